/** Removes from leases the runs that contradict the table job or the ledger. */
import type { Session } from "../database/session.ts";
import { list } from "../database/values.ts";
import { dropMissing, narrowLeases, runsOf } from "../runs/lease.ts";

/** Leases repaired in one transaction. */
const LEASES_MAX = 100;
/** Transactions at most. Further leases are found by the next call of doctor. */
const ROUNDS_MAX = 100;

export async function repairLeases(session: Session): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const rows = await session.read.all("leases_to_repair", { limit: LEASES_MAX });
    if (rows.length === 0) return;
    await repairBatch(
      session,
      rows.map(({ number }) => number),
    );
  }
}

/** Locks the leases, and reads what is wrong with them after that. */
async function repairBatch(session: Session, numbers: readonly number[]): Promise<void> {
  await session.transaction(async (transaction) => {
    await transaction.all("own_leases", { numbers: list(numbers) });
    const runs = await runsOf(transaction, numbers);
    const unsound = await transaction.all("unsound_runs", { numbers: list(numbers) });
    await dropMissing(
      transaction,
      runs.filter(({ missing }) => missing).map(({ key }) => key),
    );
    await narrowLeases(transaction, runs, new Set(unsound.map(({ key }) => key)));
  });
}
