/** `mill.intake` of a server. */
import type { ClosedIntake, Intake, IntakeTarget } from "../api/control/intake.ts";
import { intakeTargetOf } from "../api/control/targets.ts";
import { withDates } from "./dates.ts";
import { targetPath } from "./remote-drain.ts";
import type { ServerCalls } from "./server-calls.ts";

export function remoteIntake(calls: ServerCalls): Intake {
  return {
    async close(target, reason) {
      await calls.json(path("intake.close", target), { method: "PUT", body: { reason } });
    },
    open: async (target, { reason } = {}) =>
      calls.json(path("intake.open", target), { method: "DELETE", query: { reason } }),
    async list() {
      const { intakes } = await calls.json<{ intakes: ClosedIntake[] }>("/api/v1/intakes");
      return withDates(intakes);
    },
  };
}

function path(verb: string, target: IntakeTarget): string {
  return targetPath("intakes", intakeTargetOf(verb, target));
}
