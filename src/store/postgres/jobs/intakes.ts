/** closeIntake, openIntake and intakes: which new jobs producers may enqueue. */
import { MillraceError } from "../../../core/errors.ts";
import { GATE_INSTALLATION } from "../../shared/codes.ts";
import {
  intakeRecords,
  intakeNames,
  intakeRefusal,
  intakesByName,
  type ClosedIntakes,
} from "../../shared/control/intakes.ts";
import type { IntakeRecord, EnqueueAnswer } from "../../types/jobs-and-runs.ts";
import type { IntakeName } from "../../types/records.ts";
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";
import type { Sql } from "../database/statements.ts";
import { list } from "../database/values.ts";
import { findGate, internGate } from "../queue/gates.ts";
import type { InternedJob } from "./job-rows.ts";

export async function closeIntake(
  session: Session,
  { kind, name: text }: IntakeName,
  { reason, by }: { readonly reason: string; readonly by: string | null },
): Promise<void> {
  const { write, dice } = session;
  const name = kind === "installation" ? GATE_INSTALLATION : await internGate(session, kind, text);
  if (name === undefined) {
    throw new MillraceError("STORE_REFUSED", `the database refused the name of a ${kind}`);
  }
  await repeating(dice, () => write.run("close_intake", { name, reason, by }));
}

/** The intake is read first: a repeated statement would find it open. */
export async function openIntake(session: Session, target: IntakeName): Promise<boolean> {
  const { read, write, dice } = session;
  const name = await findGate(session, target);
  if (name === undefined) return false;
  const closed = await read.all("find_intakes", { names: list([name]) });
  await repeating(dice, () => write.run("open_intake", { name }));
  return closed.length > 0;
}

export async function intakes({ read, names }: Session): Promise<readonly IntakeRecord[]> {
  const rows = await read.all("closed_intakes", {});
  await names.learn(rows.map(({ name }) => name));
  return intakeRecords(rows, names);
}

/** The closed ones of the intakes that these jobs pass. */
export async function intakesOf(
  sql: Pick<Sql, "all">,
  jobs: readonly InternedJob[],
): Promise<ClosedIntakes> {
  return intakesByName(await sql.all("find_intakes", { names: list(intakeNames(jobs)) }));
}

/** The refusal of a schedule's job; null: its intakes are open, or it has an invalid name. */
export async function refusedByIntake(
  sql: Pick<Sql, "all">,
  interned: InternedJob | null | undefined,
): Promise<EnqueueAnswer | null> {
  if (interned === null || interned === undefined) return null;
  return intakeRefusal(interned.job, interned, await intakesOf(sql, [interned]));
}
