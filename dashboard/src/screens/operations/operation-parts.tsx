/** Parts of the list and of the page of an operation. */
import type { JSX } from "preact";
import type { Operation } from "../../api/operations.gen.ts";
import { Meter } from "../../parts/basics.tsx";
import { StateShape } from "../../parts/state.tsx";
import { shapeOf, sharesOf, skippedOf, statusWord } from "./operation-text.ts";

export function StatusView({ operation }: { operation: Operation }): JSX.Element {
  const shape = shapeOf(operation);
  return (
    <span class={`state st-${shape}`}>
      <StateShape state={shape} />
      <span>{statusWord(operation)}</span>
    </span>
  );
}

export function OperationMeter({ operation }: { operation: Operation }): JSX.Element {
  const { done, failed, skipped } = sharesOf(operation);
  return (
    <Meter
      label={`${operation.done} done, ${operation.failed} failed, ${skippedOf(operation)} left out`}
      parts={[
        { share: done, tone: "good" },
        { share: failed, tone: "bad" },
        { share: skipped, tone: "warn" },
      ]}
    />
  );
}
