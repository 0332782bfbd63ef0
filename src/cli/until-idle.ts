/** `millrace worker --until-idle`: waits until no job is left that the worker can run. */
import { wait, type Clock } from "../core/clock.ts";
import { takesLane } from "../core/lanes.ts";
import type { JobView, Millrace } from "../api/client.ts";
import { given } from "./shell.ts";

/** How often to check for jobs. */
const POLL_MS = 200;
const PAGE = 1_000;

export interface IdleScope {
  readonly worker: string;
  readonly types: readonly string[];
  readonly tenant: string | undefined;
}

/**
 * Resolves when no job that this worker can run is due or running. Jobs behind a closed gate, or in
 * a lane without a slot, are left; the result has one sentence for each reason.
 */
export async function untilIdle(
  mill: Millrace,
  clock: Clock,
  scope: IdleScope,
): Promise<readonly string[]> {
  for (;;) {
    const left = await leftBehind(mill, clock, scope);
    if (left !== null) return left;
    await wait(clock, POLL_MS);
  }
}

/** The reasons for jobs that are left; `null` while the worker has jobs to run. */
async function leftBehind(
  mill: Millrace,
  clock: Clock,
  { worker, types, tenant }: IdleScope,
): Promise<readonly string[] | null> {
  const view = (await mill.workers.list()).find(({ id }) => id === worker);
  const lanes = view?.lanes ?? [];
  const reasons = new Set<string>();
  for (const type of types) {
    const filter = { type, ...given({ tenant }) };
    const { jobs } = await mill.jobs.list({ ...filter, state: "running", limit: 1 });
    if (jobs.length > 0 || (await hasDue(mill, clock, filter))) return null;
    for (const job of await onePerPlace(mill, filter)) {
      const why = await whyNot(mill, job, lanes);
      if (why === null) return null;
      reasons.add(why);
    }
  }
  return [...reasons];
}

interface Filter {
  readonly type: string;
  readonly tenant?: string;
}

/** True when a job is due and not yet promoted to queued. */
async function hasDue(mill: Millrace, clock: Clock, filter: Filter): Promise<boolean> {
  for await (const job of all(mill, { ...filter, state: "scheduled" })) {
    if (job.runAt !== null && job.runAt.getTime() <= clock.now()) return true;
  }
  return false;
}

/** One job per lane and tenant, because gates and slots are the same for all of them. */
async function onePerPlace(mill: Millrace, filter: Filter): Promise<readonly JobView[]> {
  const found = new Map<string, JobView>();
  for await (const job of all(mill, { ...filter, state: "queued" })) {
    found.set(JSON.stringify([job.lane, job.tenant]), job);
  }
  return [...found.values()];
}

async function* all(
  mill: Millrace,
  filter: Filter & { readonly state: "queued" | "scheduled" },
): AsyncGenerator<JobView> {
  let after: string | null = null;
  do {
    const from: { after?: string } = after === null ? {} : { after };
    const page = await mill.jobs.list({ ...filter, ...from, limit: PAGE });
    yield* page.jobs;
    after = page.next;
  } while (after !== null);
}

/** The reason why this worker does not run a due job; `null` if it will. */
async function whyNot(
  mill: Millrace,
  job: JobView,
  lanes: readonly string[],
): Promise<string | null> {
  const { reason, sentence, hint } = await mill.jobs.explain(job.id);
  if (reason === "paused") return `${sentence} ${hint}`;
  if (takesLane(lanes, job.lane)) return null;
  return `This worker has no slot for the lane ${job.lane}; its lanes are ${lanes.join(", ")}.`;
}
