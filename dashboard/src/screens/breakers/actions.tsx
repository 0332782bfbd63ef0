/** Reset and force open. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { Breaker } from "../../api/operations.gen.ts";
import { plural } from "../../lib/format.ts";
import { may } from "../../lib/session.ts";
import { Button } from "../../parts/basics.tsx";
import { ask } from "../../parts/dialog.tsx";

interface ActionsProps {
  readonly breaker: Breaker;
  readonly waiting: number;
  readonly reload: () => Promise<void>;
}

export function BreakerActions(props: ActionsProps): JSX.Element {
  const { state, parkedUntil } = props.breaker;
  const isHolding = state !== "closed" || parkedUntil.length > 0;
  return (
    <div class="row acts">
      {state !== "open" && may("openBreaker") && (
        <Button onClick={() => askOpen(props)}>Force open…</Button>
      )}
      {isHolding && may("resetBreaker") && <Button onClick={() => askReset(props)}>Reset…</Button>}
    </div>
  );
}

function askReset({ breaker: { service }, waiting, reload }: ActionsProps): void {
  ask({
    title: `Reset the breaker of ${service}?`,
    text: `It closes now, without a probe, and ${plural(waiting, "waiting job")} of its types may start. If the service still fails, the breaker opens again.`,
    count: 1,
    verb: "Reset breaker",
    keep: "Wait for the probe",
    act: async () => {
      await call("resetBreaker", { params: { service } });
      await reload();
    },
  });
}

function askOpen({ breaker: { service, types }, reload }: ActionsProps): void {
  ask({
    title: `Force open the breaker of ${service}?`,
    text: `No job of ${plural(types.length, "type")} that uses it starts, and none loses an attempt. There is no probe: it stays open until it is reset.`,
    count: 1,
    verb: "Force open",
    keep: "Keep it closed",
    isDangerous: true,
    reason: "required",
    act: async (reason) => {
      await call("openBreaker", { params: { service }, body: { reason } });
      await reload();
    },
  });
}
