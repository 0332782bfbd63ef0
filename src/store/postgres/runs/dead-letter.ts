/** Inserts the dead letters of failed jobs, in the transaction that fails the jobs. */
import { causeOf } from "../../../core/failures/fingerprint.ts";
import type { Fault } from "../../../core/outcome.ts";
import { jobSpec } from "../../shared/decode-jobs.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { StoreTransaction } from "../database/session.ts";
import { list } from "../database/values.ts";

/** A run whose end failed its job. Its attempt record is inserted. */
export interface FailedRun {
  readonly key: JobKey;
  readonly n: number;
  readonly attempts: number;
  readonly fault: Fault;
}

export async function insertDeadLetters(
  transaction: StoreTransaction,
  runs: readonly FailedRun[],
): Promise<void> {
  if (runs.length === 0) return;
  const keys = list(runs.map(({ key }) => key));
  const specs = new Map((await transaction.all("specs_of", { keys })).map((row) => [row.key, row]));
  const letters = runs.flatMap(({ key, n, attempts, fault }) => {
    const row = specs.get(key);
    if (row === undefined) return [];
    const [error, spec] = [JSON.stringify(fault), JSON.stringify(jobSpec(row))];
    return [{ key, n, attempts, error, spec, cause: causeOf(fault) }];
  });
  await transaction.run("insert_dead_letters", { letters: JSON.stringify(letters) });
}
