/** A job and its copies never run together, as long as the workers of their code are known. */
import type { Actor } from "../fleet/effects.ts";
import type { Report } from "./invariants.ts";
import type { JobRow } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Watch } from "./watch.ts";

interface FamilyParts {
  readonly watch: Watch;
  readonly report: Report;
  readonly count: (name: string) => void;
}

/** A handler begins: code of another job of its family must have ended. */
export function checkFamily(
  { watch: { committed }, report, count }: FamilyParts,
  actor: Actor,
  underWay: Iterable<{ readonly actor: Actor }>,
): void {
  const own = committed.jobs.get(committed.keys.get(actor.id) ?? 0);
  if (own === undefined) return;
  const root = rootOf(committed, own);
  for (const { actor: other } of underWay) {
    if (other.id === actor.id || !other.process.isAlive) continue;
    const job = committed.jobs.get(committed.keys.get(other.id) ?? 0);
    if (job === undefined || rootOf(committed, job) !== root) continue;
    const isKnown = hasKnownWorker(committed, job.key, other.fence);
    if (!isKnown) count("a copy runs beside code of a lost worker");
    else report("I29", `jobs ${actor.id} and ${other.id} run at the same time`);
  }
}

/** The first job of a chain of successors. */
function rootOf(now: Snapshot, { id, retry_of: source }: JobRow): string {
  const job = now.jobs.get(now.keys.get(source ?? "") ?? 0);
  return job === undefined ? id : rootOf(now, job);
}

/** Whether the worker of a run has been registered since the run started. */
function hasKnownWorker(
  { attempts, workers, held }: Snapshot,
  key: number,
  fence: number,
): boolean {
  if (held.get(key)?.some((run) => run.fence === fence)) return true;
  const attempt = attempts.get(key)?.find((each) => each.fence === fence);
  const worker = workers.get(attempt?.worker ?? "");
  return worker !== undefined && worker.joined_at <= (attempt?.started_at ?? 0);
}
