/** The jobs of one user action as a tree, with their bars on one line of time. Pure. */
import type { Job } from "../../api/operations.gen.ts";

export interface TreeRow {
  readonly job: Job;
  readonly depth: number;
}

/** Parents before their children, older before newer. A job whose parent is not here is a root. */
export function treeOf(jobs: readonly Job[]): readonly TreeRow[] {
  const known = new Set(jobs.map(({ id }) => id));
  const byParent = new Map<string | null, Job[]>();
  for (const job of jobs.toSorted(byAge)) {
    const parent = job.parentId !== null && known.has(job.parentId) ? job.parentId : null;
    byParent.set(parent, [...(byParent.get(parent) ?? []), job]);
  }
  const rows: TreeRow[] = [];
  const seen = new Set<string>();
  const add = (parent: string | null, depth: number): void => {
    for (const job of byParent.get(parent) ?? []) {
      if (seen.has(job.id)) continue;
      seen.add(job.id);
      rows.push({ job, depth });
      add(job.id, depth + 1);
    }
  };
  add(null, 0);
  return rows;
}

function byAge(a: Job, b: Job): number {
  return Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.id < b.id ? -1 : 1);
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** From the first creation to the last end, or to now while a job is under way. */
export function spanOf(jobs: readonly Job[], now: number): Span {
  const from = Math.min(...jobs.map(({ createdAt }) => Date.parse(createdAt)));
  const to = Math.max(
    from + 1,
    ...jobs.map((job) => Date.parse(job.finishedAt ?? job.startedAt ?? job.createdAt)),
    ...(jobs.some(isUnderWay) ? [now] : []),
  );
  return { from, to };
}

function isUnderWay({ state }: Job): boolean {
  return state === "running" || state === "queued" || state === "scheduled";
}

export interface JobBar {
  readonly from: number;
  readonly to: number;
  readonly tone: "wait" | "run" | "failed";
}

/** Waiting until the last start, then running, as shares of the span. */
export function barsOf(job: Job, { from, to }: Span, now: number): readonly JobBar[] {
  const share = (at: number): number => Math.max(0, Math.min(1, (at - from) / (to - from)));
  const created = share(Date.parse(job.createdAt));
  const end = share(job.finishedAt === null ? Math.min(now, to) : Date.parse(job.finishedAt));
  if (job.startedAt === null) return [{ from: created, to: Math.max(created, end), tone: "wait" }];
  const started = Math.max(created, share(Date.parse(job.startedAt)));
  const wait = { from: created, to: started, tone: "wait" } as const;
  // A job that waits for another attempt: its last run is over, and its end is not known here.
  if (job.finishedAt === null && job.state !== "running") {
    return [{ ...wait, to: Math.max(started, end) }];
  }
  const tone = job.state === "failed" ? "failed" : "run";
  return [wait, { from: started, to: Math.max(started, end), tone }];
}
