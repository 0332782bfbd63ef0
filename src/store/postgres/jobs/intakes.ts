/** closeIntake, openIntake and intakes: which new jobs producers may enqueue. */
import { writeAudits } from "../audit/write.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import { intakeClosed, intakeOpened } from "../../shared/audit/drafts.ts";
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
  target: IntakeName,
  { reason, by }: { readonly reason: string; readonly by: string | null },
): Promise<void> {
  const { kind, name: text } = target;
  const name = kind === "installation" ? GATE_INSTALLATION : await internGate(session, kind, text);
  if (name === undefined) {
    throw new MillraceError("STORE_REFUSED", `the database refused the name of a ${kind}`);
  }
  await repeating(session.dice, (isRepeat) =>
    session.transaction(async (transaction) => {
      const [before] = await transaction.all("find_intakes", { names: list([name]) });
      await transaction.run("close_intake", { name, reason, by });
      await writeAudits(transaction, [intakeClosed(target, { by, reason }, before)], isRepeat);
    }),
  );
}

/** A repeat may find the intake open that the first try has opened. */
export async function openIntake(
  session: Session,
  target: IntakeName,
  act: Act = NO_ACT,
): Promise<boolean> {
  const name = await findGate(session, target);
  if (name === undefined) return false;
  let wasClosed = false;
  await repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      const [before] = await transaction.all("find_intakes", { names: list([name]) });
      if ((await transaction.run("open_intake", { name })) === 0) return;
      wasClosed = true;
      await writeAudits(transaction, [intakeOpened(target, act, before)]);
    }),
  );
  return wasClosed;
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
