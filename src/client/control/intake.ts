/** `mill.intake`. */
import type { Intake, IntakeTarget } from "../../api/control/intake.ts";
import { MillraceError } from "../../core/errors.ts";
import { checkRemark } from "../../jobs/check-text.ts";
import type { JobStore } from "../../store/store.ts";
import type { IntakeName } from "../../store/types/records.ts";
import { gateOf } from "../pauses.ts";

export function makeIntake(store: JobStore): Intake {
  return {
    async close(target, reason, by) {
      checkRemark("intake.close", "reason", reason);
      if (by !== undefined) checkRemark("intake.close", "actor", by.actor);
      const why = { reason, by: by?.actor ?? null };
      await store.closeIntake(intakeOf("intake.close", target), why);
    },
    async open(target) {
      return { wasClosed: await store.openIntake(intakeOf("intake.open", target)) };
    },
    async list() {
      const closed = await store.intakes();
      return closed.map(({ kind, name, reason, by, closedAt }) => {
        return { kind, name, reason, closedBy: by, closedAt: new Date(closedAt) };
      });
    },
  };
}

function intakeOf(verb: string, target: IntakeTarget): IntakeName {
  const { kind, name } = gateOf(verb, target);
  if (kind !== "service") return { kind, name };
  const message = `${verb}: a service has no intake; name the types that use ${name}`;
  throw new MillraceError("OPTION_INVALID", message);
}
