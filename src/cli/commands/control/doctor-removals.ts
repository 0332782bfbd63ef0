/** What `millrace doctor` says about removals of tenants. */
import { formatDuration } from "../../../core/duration.ts";
import { shellWord } from "../../../lib/shell-word.ts";
import type { JobStore } from "../../../store/store.ts";
import type { RemovalRecord } from "../../../store/types/tenants.ts";
import type { DoctorCheck } from "../doctor-file-findings.ts";

/** Workers continue a removal: after this time, jobs keep it from its end, or no worker runs. */
const HOUR_MS = 3_600_000;
const REMOVALS_MAX = 100;

export async function removalChecks(store: JobStore): Promise<DoctorCheck[]> {
  const now = await store.time();
  const open = await store.openRemovals(REMOVALS_MAX);
  const old = open.filter(({ begunAt }) => now - begunAt > HOUR_MS);
  if (old.length > 0) return old.map((removal) => oldCheck(removal, now - removal.begunAt));
  return [{ name: "removals", found: `${open.length} under way, none for long`, fix: null }];
}

function oldCheck({ tenant, removed, by }: RemovalRecord, ageMs: number): DoctorCheck {
  const who = by === null ? "" : `, asked for by ${by}`;
  const sofar = `${removed} row(s) are deleted so far`;
  return {
    name: "removals",
    found: `the tenant ${tenant} is being removed for ${formatDuration(ageMs)}${who}; ${sofar}`,
    fix:
      "If the number does not grow, start a worker or a server, and end the jobs that run: " +
      `millrace jobs list --tenant ${shellWord(tenant)} --state running`,
  };
}
