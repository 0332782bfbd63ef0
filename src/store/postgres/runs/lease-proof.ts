/** Checks number and secret of leases, and locks them with their open runs. */
import type { JobKey, Lease } from "../../types/jobs-and-runs.ts";
import { runsOf } from "./lease.ts";
import type { StoreTransaction } from "../database/session.ts";
import { list } from "../database/values.ts";
import type { RunRow } from "../database/queries.gen.ts";

export interface OpenLease {
  readonly number: number;
  /** Runs without an attempt record. */
  readonly open: Map<number, RunRow>;
}

/** A run, and the lease that proves that the caller holds it. */
interface RunProof {
  readonly lease: Lease;
  readonly key: JobKey;
  readonly n: number;
}

/** Locks the leases whose secrets match, each with its open runs. */
export async function lockOpenLeases(
  transaction: StoreTransaction,
  items: readonly RunProof[],
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
      const own = (open.get(number) ?? []).map((run) => [run.key, run] as const);
      return [proofOf({ number, secret }), { number, open: new Map(own) }];
    }),
  );
}

export async function lockLeases(
  transaction: StoreTransaction,
  items: readonly RunProof[],
): Promise<readonly Lease[]> {
  const numbers = [...new Set(items.map(({ lease }) => lease.number))];
  return transaction.all("lock_leases", { numbers: list(numbers) });
}

export function proofOf({ number, secret }: Lease): string {
  return `${number} ${secret}`;
}

/** The run, if the lease names it and it has started and not ended. */
export function findRun(
  lease: OpenLease | undefined,
  { key, n }: Pick<RunProof, "key" | "n">,
): RunRow | null {
  const held = lease?.open.get(key);
  return held?.n === n && held.started_at !== null ? held : null;
}

/** Removes the run to end from the open runs of its lease. A second call finds none. */
export function takeRun(lease: OpenLease | undefined, run: RunProof): RunRow | null {
  const held = findRun(lease, run);
  if (held !== null) lease?.open.delete(run.key);
  return held;
}
