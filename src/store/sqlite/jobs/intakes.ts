/** closeIntake, openIntake and intakes: which new jobs producers may enqueue. */
import { GATE_INSTALLATION } from "../../shared/codes.ts";
import {
  ALL_OPEN,
  intakeRecords,
  intakesByName,
  type ClosedIntakes,
} from "../../shared/control/intakes.ts";
import { requireProtocol } from "../../shared/migrations.ts";
import type { IntakeRecord } from "../../types/jobs-and-runs.ts";
import type { IntakeName } from "../../types/records.ts";
import type { Session } from "../database/session.ts";
import { findGate } from "../queue/gates.ts";

export function closeIntake(
  { sql, names, clock }: Session,
  { kind, name: text }: IntakeName,
  { reason, by }: { readonly reason: string; readonly by: string | null },
): void {
  const name = kind === "installation" ? GATE_INSTALLATION : names.id(kind, text);
  sql.run("close_intake", { name, now: clock.now(), reason, by });
}

export function openIntake(session: Session, target: IntakeName): boolean {
  const name = findGate(session, target);
  return name !== undefined && session.sql.run("open_intake", { name }).changes > 0;
}

export function intakes({ sql, names }: Session): IntakeRecord[] {
  return intakeRecords(sql.all("closed_intakes", {}), names);
}

/** Refuses a producer of an older release. Answers the closed intakes. */
export function admission(session: Session): ClosedIntakes {
  const row = session.sql.get("admission", {});
  requireProtocol(row?.protocol ?? 0);
  return row?.closed === 1 ? closedIntakes(session) : ALL_OPEN;
}

export function closedIntakes({ sql }: Session): ClosedIntakes {
  return intakesByName(sql.all("closed_intakes", {}));
}
