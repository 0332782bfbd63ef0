/** `mill.intake`. */
import type { Intake } from "../../api/control/intake.ts";
import { intakeTargetOf } from "../../api/control/targets.ts";
import { actOf } from "../../jobs/acted-by.ts";
import { checkRemark } from "../../jobs/check-text.ts";
import type { JobStore } from "../../store/store.ts";

export function makeIntake(store: JobStore): Intake {
  return {
    async close(target, reason, by) {
      checkRemark("intake.close", "reason", reason);
      if (by !== undefined) checkRemark("intake.close", "actor", by.actor);
      const why = { reason, by: by?.actor ?? null };
      await store.closeIntake(intakeTargetOf("intake.close", target), why);
    },
    async open(target, by) {
      const act = actOf("intake.open", by);
      return { wasClosed: await store.openIntake(intakeTargetOf("intake.open", target), act) };
    },
    async list() {
      const closed = await store.intakes();
      return closed.map(({ kind, name, reason, by, closedAt }) => {
        return { kind, name, reason, closedBy: by, closedAt: new Date(closedAt) };
      });
    },
  };
}
