/** The workers in `mill.jobs.explain`: none takes the job, or those that do have no slot free. */
import type { Explanation, NotTakenDetails, SlotDetails } from "../../api/control/explanation.ts";
import type { CountedJobs } from "../../api/jobs.ts";
import { slotUse } from "../../core/lanes.ts";
import { hasLane, takesTenant, takesType } from "../../core/takers.ts";
import { closest } from "../../lib/closest.ts";
import { shellWord } from "../../lib/shell-word.ts";
import type { JobStore } from "../../store/store.ts";
import type { JobRecord, WorkerRecord } from "../../store/types/records.ts";

/** The most names in one sentence. */
const NAMES_MAX = 10;
/** The most names in the data behind it. */
const KNOWN_MAX = 100;
/** The jobs that are read to count those in front. */
const AHEAD_MAX = 10_000;

interface KnownWorkers {
  readonly alive: readonly WorkerRecord[];
  /** The mill of a tenant asks. */
  readonly isOneTenant: boolean;
}

/**
 * The first requirement of the job that no running worker meets, and a worker that did meet it
 * until its heartbeats stopped. The mill of a tenant is not told which worker and where.
 */
export function explainMissing(
  job: JobRecord,
  { alive, silent, isOneTenant }: KnownWorkers & { readonly silent: readonly WorkerRecord[] },
): Explanation | null {
  const explanation = missingAmong(job, alive);
  const taker = silent.find(takerOf(job));
  if (explanation === null || taker === undefined) return explanation;
  return { ...explanation, sentence: `${explanation.sentence} ${silenceOf(taker, isOneTenant)}` };
}

function silenceOf(worker: WorkerRecord, isOneTenant: boolean): string {
  const { id, host, pid, until, leaseLeftMs, beatAgoMs } = worker;
  const [since, end] = [until - leaseLeftMs - beatAgoMs, until].map((ms) => new Date(ms));
  const subject = isOneTenant ? "A worker" : `Worker ${id} (process ${pid} on ${host})`;
  return (
    `${subject} takes it, but has been silent since ${since?.toISOString()}; ` +
    `its lease ends at ${end?.toISOString()}.`
  );
}

function missingAmong(job: JobRecord, alive: readonly WorkerRecord[]): Explanation | null {
  if (alive.length === 0) return explainNone(job);
  const awake = alive.filter(({ quiet }) => !quiet);
  if (awake.length === 0) return explainQuiet(alive.length);
  const knowing = awake.filter((worker) => takesType(worker, job));
  if (knowing.length === 0) return explainType(job, awake);
  const having = knowing.filter((worker) => hasLane(worker, job));
  if (having.length === 0) return explainLane(job, knowing);
  return having.some(takerOf(job)) ? null : explainTenant(job, having);
}

function explainNone({ type, lane, tenant }: JobRecord): Explanation {
  return {
    sentence: "It is due, but no worker is running.",
    reason: "no_worker",
    hint: "Start one: millrace worker --jobs FILE, or mill.work({ jobs }) in a program.",
    details: { type, lane, tenant },
  };
}

function explainQuiet(workers: number): Explanation {
  return {
    sentence: `It is due, but all ${workers} worker(s) are quiet: they take no new work.`,
    reason: "quiet",
    hint: "Start another: millrace worker --jobs FILE",
    details: { workers },
  };
}

function explainType({ type }: JobRecord, awake: readonly WorkerRecord[]): Explanation {
  const known = knownOf(awake.flatMap((worker) => worker.types));
  const didYouMean = closest(type, known.all);
  const meant = didYouMean === null ? "" : ` (did you mean ${didYouMean}?)`;
  return {
    sentence: notTaken("type", type, `the types ${known.text}${meant}`),
    reason: "type_not_taken",
    hint: "Start one whose file exports that job: millrace worker --jobs FILE",
    details: { type, didYouMean, ...known.details },
  };
}

function explainLane({ lane }: JobRecord, knowing: readonly WorkerRecord[]): Explanation {
  const known = knownOf(knowing.flatMap((worker) => worker.lanes));
  return {
    sentence: notTaken("lane", lane, `slots in ${known.text}`),
    reason: "lane_not_taken",
    hint: `Start one with --lanes ${shellWord(`${lane}=1`)}: millrace worker --jobs FILE`,
    details: { lane, ...known.details },
  };
}

function explainTenant({ tenant }: JobRecord, having: readonly WorkerRecord[]): Explanation {
  const known = knownOf(having.flatMap((worker) => worker.tenant ?? []));
  return {
    sentence: notTaken("tenant", tenant, `the tenants ${known.text}`),
    reason: "tenant_not_taken",
    hint: `Start one with --tenant ${shellWord(tenant)}: millrace worker --jobs FILE`,
    details: { tenant, ...known.details },
  };
}

function notTaken(kind: string, name: string, taken: string): string {
  return `It is due, but no worker takes the ${kind} ${name}; those that run take ${taken}.`;
}

function knownOf(names: readonly string[]): {
  readonly all: readonly string[];
  readonly text: string;
  readonly details: NotTakenDetails;
} {
  const all = [...new Set(names)].toSorted();
  const more = all.length > NAMES_MAX ? ", …" : "";
  return {
    all,
    text: `${all.slice(0, NAMES_MAX).join(", ")}${more}`,
    details: { known: all.slice(0, KNOWN_MAX), more: all.length > KNOWN_MAX },
  };
}

/** There are workers that take the job. The mill of a tenant is not told what others use. */
export async function explainSlots(
  store: Pick<JobStore, "countAhead" | "fairLanes">,
  job: JobRecord,
  { alive, isOneTenant }: KnownWorkers,
): Promise<Explanation> {
  const { lane } = job;
  const takers = alive.filter(takerOf(job));
  const workers = takers.length;
  const uses = takers.map(({ laneSlots, runningByLane }) =>
    slotUse(lane, laneSlots, runningByLane),
  );
  const slots = uses.reduce((total, use) => total + use.slots, 0);
  const used = uses.reduce((total, use) => total + use.used, 0);
  const ahead = await aheadOf(store, job);
  const running = isOneTenant ? null : used;
  const fair = await fairnessOf(store, job);
  const details: SlotDetails = { lane, workers, slots, running, ahead, fair };
  const due = `It is due${afterCrashes(job)}`;
  const behind = behindText(ahead, isOneTenant) + fairText(job, fair);
  const more = `--lanes ${shellWord(`${lane}=N`)}`;
  if (used >= slots) {
    const all = `all ${slots} slot(s) for the lane ${lane} of ${workers} worker(s)`;
    return {
      sentence: `${due}, and ${all} are busy.${behind}`,
      reason: "busy",
      hint: `It starts when one is free. Start another worker, or more slots: ${more}`,
      details,
    };
  }
  const use = isOneTenant ? "have free slots" : `use ${used} of ${slots} slot(s) for its lane`;
  return {
    sentence: `${due}; ${workers} worker(s) take it and ${use}.${behind}`,
    reason: "waiting",
    hint: "It starts in a moment. If it does not, look at the workers: millrace workers list",
    details,
  };
}

/** The share of such jobs is not used up: the job waits as others do. */
function afterCrashes({ crashes }: JobRecord): string {
  if (crashes === 0) return "";
  return crashes === 1 ? " after a crash" : ` after ${crashes} crashes`;
}

async function fairnessOf(
  store: Pick<JobStore, "fairLanes">,
  { lane, tenant }: JobRecord,
): Promise<SlotDetails["fair"]> {
  const found = (await store.fairLanes()).find((each) => each.lane === lane);
  return found === undefined ? null : { weight: found.weights[tenant] ?? 1 };
}

async function aheadOf(
  store: Pick<JobStore, "countAhead">,
  { id }: JobRecord,
): Promise<CountedJobs | null> {
  const found = await store.countAhead(id, AHEAD_MAX);
  return found === null ? null : { count: found.jobs, atLeast: !found.isExact };
}

function behindText(ahead: CountedJobs | null, isOneTenant: boolean): string {
  if (ahead === null || (ahead.count === 0 && isOneTenant)) return "";
  const { count, atLeast } = ahead;
  if (count === 0 && !atLeast) return " It is the next of its lane.";
  const jobs = count === 1 ? "job" : "jobs";
  const whose = isOneTenant ? "the tenant in its lane" : "its lane";
  return ` It is behind ${atLeast ? "at least " : ""}${count} ${jobs} of ${whose}.`;
}

function fairText({ lane, tenant }: JobRecord, fair: SlotDetails["fair"]): string {
  if (fair === null) return "";
  return ` The lane ${lane} is fair, and the tenant ${tenant} has the weight ${fair.weight}.`;
}

/** Whether a worker takes the job and is not quiet. */
export function takerOf(job: JobRecord): (worker: WorkerRecord) => boolean {
  return (worker) =>
    !worker.quiet && takesType(worker, job) && hasLane(worker, job) && takesTenant(worker, job);
}
