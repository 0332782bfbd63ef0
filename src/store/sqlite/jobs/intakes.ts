/** closeIntake, openIntake and intakes: which new jobs producers may enqueue. */
import { GATE_INSTALLATION } from "../../shared/codes.ts";
import {
  ALL_OPEN,
  intakeRecords,
  intakesByName,
  type ClosedIntakes,
} from "../../shared/control/intakes.ts";
import { intakeClosed, intakeOpened } from "../../shared/audit/drafts.ts";
import { requireProtocol } from "../../shared/migrations.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import type { IntakeRecord, NewJob } from "../../types/jobs-and-runs.ts";
import type { IntakeName } from "../../types/records.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";
import { findGate } from "../queue/gates.ts";
import { callQuotas, NO_QUOTAS, type CallQuotas } from "./quotas.ts";

export function closeIntake(
  session: Session,
  target: IntakeName,
  { reason, by }: { readonly reason: string; readonly by: string | null },
): void {
  const { sql, names, clock } = session;
  const { kind, name: text } = target;
  const name = kind === "installation" ? GATE_INSTALLATION : names.id(kind, text);
  const before = closedIntakes(session).get(name);
  sql.run("close_intake", { name, now: clock.now(), reason, by });
  writeAudits(session, [intakeClosed(target, { by, reason }, before)]);
}

export function openIntake(session: Session, target: IntakeName, act: Act = NO_ACT): boolean {
  const name = findGate(session, target);
  const before = name === undefined ? undefined : closedIntakes(session).get(name);
  if (name === undefined || before === undefined) return false;
  session.sql.run("open_intake", { name });
  writeAudits(session, [intakeOpened(target, act, before)]);
  return true;
}

export function intakes({ sql, names }: Session): IntakeRecord[] {
  return intakeRecords(sql.all("closed_intakes", {}), names);
}

/** What new jobs must pass. */
export interface Admission {
  readonly closed: ClosedIntakes;
  readonly quotas: CallQuotas;
}

/** Jobs inside another verb pass. */
export const ADMITTED: Admission = { closed: ALL_OPEN, quotas: NO_QUOTAS };

/** Refuses a producer of an older release. Answers the closed intakes and the quotas. */
export function admission(session: Session, jobs: readonly NewJob[]): Admission {
  const { protocol, admitted } = readAdmission(session, jobs);
  requireProtocol(protocol);
  return admitted;
}

/** The same for a schedule, which workers of older releases may tick. */
export function readAdmission(
  session: Session,
  jobs: readonly NewJob[],
): { readonly protocol: number; readonly admitted: Admission } {
  const row = session.sql.get("admission", {});
  const closed = row?.closed === 1 ? closedIntakes(session) : ALL_OPEN;
  const quotas = row?.limited === 1 ? callQuotas(session, jobs) : NO_QUOTAS;
  return { protocol: row?.protocol ?? 0, admitted: { closed, quotas } };
}

function closedIntakes({ sql }: Session): ClosedIntakes {
  return intakesByName(sql.all("closed_intakes", {}));
}
