/** Leases that somebody proves to hold, and their open runs, while these are being settled. */
import type { JobKey, Lease } from "../../types/jobs-and-runs.ts";
import { runsOf } from "./lease.ts";
import type { SessionTransaction } from "../database/session.ts";
import { list } from "../database/values.ts";
import type { RunRow } from "../database/rows-runs.ts";

export interface OpenLease {
  readonly number: number;
  /** Its runs that have no ledger row yet. */
  readonly open: Map<number, RunRow>;
}

/** Something said of a run, with the proof that allows to say it. */
interface Claim {
  readonly lease: Lease;
  readonly key: JobKey;
  readonly n: number;
}

/** The leases that are proven, locked, each with its open runs. */
export async function holdLeases(
  transaction: SessionTransaction,
  items: readonly Claim[],
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
  transaction: SessionTransaction,
  items: readonly Claim[],
): Promise<readonly Lease[]> {
  const numbers = [...new Set(items.map(({ lease }) => lease.number))];
  return transaction.all("lock_leases", { numbers: list(numbers) });
}

export function proofOf({ number, secret }: Lease): string {
  return `${number} ${secret}`;
}

/** The run of a job, if the lease has it and it has begun and not ended. */
export function findRun(
  lease: OpenLease | undefined,
  { key, n }: Pick<Claim, "key" | "n">,
): RunRow | null {
  const held = lease?.open.get(key);
  return held?.n === n && held.started_at !== null ? held : null;
}

/** The run that is to end, if the lease still has it. Nobody can take it a second time. */
export function takeRun(lease: OpenLease | undefined, claim: Claim): RunRow | null {
  const held = findRun(lease, claim);
  if (held !== null) lease?.open.delete(claim.key);
  return held;
}
