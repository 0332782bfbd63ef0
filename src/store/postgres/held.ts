/** Leases that somebody proves to hold, and their open runs, while these are being settled. */
import type { Lease, SettleItem } from "../store.ts";
import { runsOf } from "./lease.ts";
import type { Transaction } from "./session.ts";
import { list } from "./values.ts";
import type { RunRow } from "./work-rows.ts";

export interface OpenLease {
  readonly number: number;
  /** Its runs that have no ledger row yet. */
  readonly open: Map<number, RunRow>;
}

/** The leases that are proven, locked, each with its open runs. */
export async function holdLeases(
  transaction: Transaction,
  items: readonly SettleItem[],
): Promise<Map<string, OpenLease>> {
  const proofs = new Set(items.map(({ lease }) => proofOf(lease)));
  const held = (await lockLeases(transaction, items)).filter((lease) => proofs.has(proofOf(lease)));
  const runs = await runsOf(
    transaction,
    held.map(({ number }) => number),
  );
  const open = Map.groupBy(
    runs.filter(({ ended }) => !ended),
    ({ fence }) => fence,
  );
  return new Map(
    held.map(({ number, secret }) => {
      const mine = (open.get(number) ?? []).map((run) => [run.key, run] as const);
      return [proofOf({ number, secret }), { number, open: new Map(mine) }];
    }),
  );
}

export async function lockLeases(
  transaction: Transaction,
  items: readonly SettleItem[],
): Promise<readonly Lease[]> {
  const numbers = [...new Set(items.map(({ lease }) => lease.number))];
  return transaction.all("lock_leases", { numbers: list(numbers) });
}

export function proofOf({ number, secret }: Lease): string {
  return `${number} ${secret}`;
}

/** The run that is to end, if the lease still has it. Nobody can take it a second time. */
export function takeRun(lease: OpenLease | undefined, { key, n }: SettleItem): RunRow | null {
  const held = lease?.open.get(key);
  if (lease === undefined || held?.n !== n || held.started_at === null) return null;
  lease.open.delete(key);
  return held;
}
