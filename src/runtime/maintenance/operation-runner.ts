/**
 * Continues bulk operations that no other process runs: `claimOperations`, `applyChunk`. A process
 * that dies keeps its operations until the lease in their rows has ended.
 */
import type { Definition } from "../../api/definition.ts";
import type { JobId } from "../../core/job.ts";
import { OperationRunner } from "../../jobs/operations/runner.ts";
import type { TypeFacts } from "../../jobs/nothing-to-retry.ts";
import type { Ticker } from "../ticker.ts";
import { jittered, makeDuty, type DutyParts } from "./duty.ts";

const LOOK_MS = 5_000;

export interface OperationDutyParts extends Pick<
  DutyParts,
  "store" | "clock" | "random" | "logger"
> {
  readonly newId: () => JobId;
  readonly definitions: ReadonlyMap<string, Definition>;
  /** Whether a new attempt or successor keeps no checkpoints, if its type does not say. */
  readonly restarts: boolean;
  /** How long an idempotency key outlives a deleted job. */
  readonly idempotencyMs: number;
}

export function operationRunner(parts: OperationDutyParts): Ticker {
  const runner = new OperationRunner({ ...parts, known: factsOf(parts) });
  return makeDuty(parts, LOOK_MS, async () => {
    return (await runner.step()) ?? jittered(LOOK_MS, parts.random());
  });
}

function factsOf({ definitions, restarts }: OperationDutyParts): TypeFacts {
  return {
    phasesOf: (type) => {
      const body = definitions.get(type)?.body;
      return body?.kind === "phases" ? body.phases.map(({ name }) => name) : [];
    },
    restarts: (type) => restarts || definitions.get(type)?.settings.onRetry === "restart",
  };
}
