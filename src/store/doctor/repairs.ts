/** What `millrace doctor --fix` does about a finding. */
import type { JobId } from "../../core/job.ts";
import { defaults } from "../../core/presets.ts";
import { settle } from "../../core/settle.ts";
import type { JobStore } from "../store.ts";
import type { Fix, OffendingJob, QualifyTable } from "./invariants.ts";

export type Repair =
  | { readonly kind: "sql"; readonly sql: string }
  /** Returns running jobs to the queue, uncharged. */
  | { readonly kind: "release"; readonly ids: readonly JobId[] }
  | { readonly kind: "cancel"; readonly ids: readonly JobId[] }
  /** Removes from leases what contradicts the table job or the ledger. */
  | { readonly kind: "leases" };

/** A store that can be repaired. */
export interface RepairableStore extends Pick<JobStore, "cancel" | "intervene"> {
  /** Runs statements in one transaction. */
  runSql(sql: string): Promise<void>;
  repairLeases(): Promise<void>;
}

const REASON = "millrace doctor --fix";
const ACT = { by: "doctor", reason: REASON };

/** The repair that a fix names. Null: only a person can do it. */
export function repairOf(
  fix: Fix,
  offenders: readonly OffendingJob[],
  table: QualifyTable,
): Repair | null {
  switch (fix.kind) {
    case "sql":
      return { kind: "sql", sql: fix.of(table) };
    case "command":
      return { kind: fix.verb, ids: offenders.flatMap(({ id }) => id ?? []) };
    case "leases":
      return { kind: "leases" };
    case "words":
      return null;
  }
}

export async function applyRepair(store: RepairableStore, repair: Repair): Promise<void> {
  switch (repair.kind) {
    case "sql":
      return store.runSql(repair.sql);
    case "leases":
      return store.repairLeases();
    case "cancel":
      for (const id of repair.ids) await store.cancel(id, ACT.by, REASON);
      return;
    case "release":
      for (const id of repair.ids) await store.intervene(id, interrupted, ACT);
  }
}

/** An interruption is not charged, and no policy delays it. */
function interrupted(facts: Parameters<typeof settle>[0]): ReturnType<typeof settle> {
  return settle(facts, { type: "interrupted" }, { policy: defaults.retry, random: 0.5 });
}
