/** `mill.intake` of a server. */
import type { ClosedIntake, Intake } from "../api/control/intake.ts";
import { withDates } from "./dates.ts";
import { targetPath } from "./remote-drain.ts";
import type { ServerCalls } from "./server-calls.ts";

export function remoteIntake(calls: ServerCalls): Intake {
  return {
    async close(target, reason) {
      await calls.json(targetPath("intakes", target), { method: "PUT", body: { reason } });
    },
    open: (target) => calls.json(targetPath("intakes", target), { method: "DELETE" }),
    async list() {
      const { intakes } = await calls.json<{ intakes: ClosedIntake[] }>("/api/v1/intakes");
      return withDates(intakes);
    },
  };
}
