/** The review records of failed jobs, written in the transaction that fails them. */
import type { Fault } from "../../../core/outcome.ts";
import { jobSpec } from "../../shared/decode-jobs.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { SessionTransaction } from "../database/session.ts";
import { list } from "../database/values.ts";

/** A run whose end failed its job. Its ledger row is written. */
export interface Death {
  readonly key: JobKey;
  readonly n: number;
  readonly attempts: number;
  readonly fault: Fault;
}

export async function insertDeadLetters(
  transaction: SessionTransaction,
  deaths: readonly Death[],
): Promise<void> {
  if (deaths.length === 0) return;
  const keys = list(deaths.map(({ key }) => key));
  const specs = new Map((await transaction.all("specs_of", { keys })).map((row) => [row.key, row]));
  const letters = deaths.map(({ key, n, attempts, fault }) => {
    const row = specs.get(key);
    if (row === undefined) throw new Error(`job ${key} has failed but has no row`);
    const [error, spec] = [JSON.stringify(fault), JSON.stringify(jobSpec(row))];
    return { key, n, attempts, error, spec };
  });
  await transaction.run("insert_dead_letters", { letters: JSON.stringify(letters) });
}
