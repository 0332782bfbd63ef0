/**
 * Judges a history after the fact, from what producers were promised, what handlers wrote down
 * outside the system, and, if given, what the store says at the end.
 *
 * A *run* begins with a start line; the next line of the same fence and process closes it. When a
 * job has a second run, one of these happened:
 *
 * - **retry**: the run before had failed.
 * - **restart**: the run before had quit, because its worker was told to stop.
 * - **takeover**: the run before was open and its holder gone.
 * - **repeat**: the run before had ended and its holder was gone before the end was recorded. The
 *   effect happened twice, as at-least-once allows; it is recorded once.
 * - **overlap** (a violation): the run before was open and its holder not gone.
 * - **doubled** (a violation): the run before had ended and its holder was not gone.
 *
 * A holder is *gone* when its lease was over before the second run began. With the store, that is
 * when the ledger of the store had closed the run by then, and not as a success. Without the store,
 * signs of life decide: a process that wrote any line within half a lease before the second start,
 * and another line after it, was alive with a valid lease. (It renews at a third of the lease, so a
 * process that is stopped or cut off loses its jobs no sooner than two thirds after its last line.)
 * A living holder that wrote nothing meanwhile cannot be told from a stopped one without the store.
 */
import type { Finding, History, StoredJob } from "../fleet/history.ts";
import type { LedgerLine } from "../fleet/ledger.ts";
import { wasClosedBy } from "./closed-by.ts";
import { judgeFlows } from "./flows.ts";
import { judgePromises } from "./promises.ts";

/** How a second run came about. */
export interface Succession {
  readonly kind: "retry" | "restart" | "takeover" | "repeat";
  readonly job: string;
  readonly from: Run;
  readonly to: Run;
  /** By its signs of life the holder was not dead, and yet its lease was over. */
  readonly fromLiving: boolean;
}

export interface Run {
  readonly job: string;
  readonly fence: number;
  readonly pid: number;
  readonly attempt: number;
  readonly startedAt: number;
  /** Place of the start line in the ledger, which orders lines of the same millisecond. */
  readonly place: number;
  readonly closed: Closing | null;
}

interface Closing {
  readonly what: Exclude<LedgerLine["what"], "start">;
  readonly place: number;
}

export interface Verdict {
  readonly acked: number;
  readonly starts: number;
  readonly ends: number;
  /** Runs that the store had closed, and another had overtaken, before their zombie began them. */
  readonly lateStarts: number;
  /** Ends of runs that another run had overtaken: the words of zombies. */
  readonly lateEnds: number;
  /** Acknowledged jobs that the store gave up on the record: failed or cancelled. */
  readonly gaveUp: number;
  readonly successions: readonly Succession[];
  readonly findings: readonly Finding[];
}

/** Judges the whole history. */
export function check(history: History): Verdict {
  const acked = [...new Set(history.acks.map(({ id }) => id))];
  const { runs, findings: strayEnds } = runsOf(history.ledger);
  const isAlive = signsOfLife(history);
  const timely = [...runs.values()].map((ofJob) =>
    ofJob.filter((run) => !isLate(run, ofJob, history)),
  );
  const judged = timely.map((ofJob) => judgeRuns(ofJob, history, isAlive));
  const ended = [...runs.values()].flat().filter(hasEnded);
  return {
    acked: acked.length,
    starts: history.ledger.filter(({ what, unit }) => what === "start" && unit === undefined)
      .length,
    ends: ended.length,
    lateStarts: [...runs.values()].flat().length - timely.flat().length,
    lateEnds: ended.filter((run) => wasOvertaken(run, runs.get(run.job) ?? [])).length,
    gaveUp: acked.filter((job) => isGivenUp(history.store?.get(job))).length,
    successions: judged.flatMap((each) => each.successions),
    findings: [
      ...strayEnds,
      ...judged.flatMap((each) => each.findings),
      ...acked.flatMap((job) => judgeAck(job, runs.get(job) ?? [], history)),
      ...acceptedTwice(history),
      ...judgePromises(history),
      ...judgeFlows(history),
    ],
  };
}

/** The runs of each job, in the order in which they began. */
function runsOf(ledger: readonly LedgerLine[]): {
  runs: Map<string, Run[]>;
  findings: Finding[];
} {
  const runs = new Map<string, Run[]>();
  const findings: Finding[] = [];
  for (const [place, line] of ledger.entries()) {
    if (line.unit !== undefined) continue;
    const { job, fence, pid, attempt, what, at } = line;
    const ofJob = runs.get(job) ?? [];
    runs.set(job, ofJob);
    if (what === "start") {
      ofJob.push({ job, fence, pid, attempt, startedAt: at, place, closed: null });
      continue;
    }
    const index = ofJob.findLastIndex(
      (run) => run.fence === fence && run.pid === pid && run.closed === null,
    );
    const run = ofJob[index];
    if (run !== undefined) ofJob[index] = { ...run, closed: { what, place } };
    if (run === undefined && what !== "quit") {
      findings.push({ kind: "doubled", job, why: `${name(line)} ended without an open start` });
    }
  }
  return { runs, findings };
}

/**
 * A worker that is stopped between its claim and the start wakes with a run that is over by the
 * word of the store. What it says of it comes too late to be compared with the runs since.
 */
function isLate(run: Run, ofJob: readonly Run[], { store }: History): boolean {
  const stored = store?.get(run.job);
  const isOvertaken = ofJob.some(({ fence, place }) => fence > run.fence && place < run.place);
  return isOvertaken && stored !== undefined && wasClosedBy(stored, run, run.startedAt);
}

/** Compares each run with the one before it. */
function judgeRuns(
  runs: readonly Run[],
  { store }: History,
  isAlive: (pid: number, at: number) => boolean,
): { successions: Succession[]; findings: Finding[] } {
  const successions: Succession[] = [];
  const findings: Finding[] = [];
  for (const [index, to] of runs.slice(1).entries()) {
    const from = runs[index]!;
    const { job } = to;
    const why = `${name(to)} began after ${name(from)}`;
    const isFenced = to.fence > from.fence;
    if (!isFenced) findings.push({ kind: "unfenced", job, why: `${why}: no higher fence` });

    const left = from.closed !== null && from.closed.place < to.place ? from.closed.what : "open";
    const fromLiving = isAlive(from.pid, to.startedAt);
    const stored = store?.get(job);
    const isGone = stored === undefined ? !fromLiving : wasClosedBy(stored, from, to.startedAt);
    if (left === "quit" || (isFenced && isGone)) {
      successions.push({ kind: SUCCESSION[left], job, from, to, fromLiving });
      continue;
    }
    const kind = left === "open" ? "overlap" : "doubled";
    findings.push({ kind, job, why: `${why}, whose holder was not gone` });
  }
  return { successions, findings };
}

/** What a second run is, by how the run before was left. */
const SUCCESSION = {
  open: "takeover",
  end: "repeat",
  fail: "retry",
  quit: "restart",
} as const;

/** What was promised must have happened, and the store must say so. */
function judgeAck(job: string, runs: readonly Run[], { store }: History): Finding[] {
  const lost = (why: string): Finding[] => [{ kind: "lost", job, why }];
  const ended = runs.filter(hasEnded);
  if (store === undefined) {
    return ended.length > 0 ? [] : lost("it was acknowledged and never ended");
  }
  const stored = store.get(job);
  if (stored === undefined) return lost("it was acknowledged and is not in the store");
  if (isGivenUp(stored)) return [];
  if (stored.state !== "completed" && stored.state !== "completed_with_errors") {
    return lost(`it was acknowledged and is still ${stored.state}`);
  }
  const accepted = stored.attempts.find(({ outcome }) => outcome === "succeeded");
  if (ended.some(({ fence }) => fence === accepted?.fence)) return [];
  return lost(`fence ${accepted?.fence} is recorded as its finish, but did not end`);
}

/** The store may accept one finish of a job and no second. */
function acceptedTwice({ store }: History): Finding[] {
  return [...(store ?? [])].flatMap(([job, { attempts }]): Finding[] => {
    const fences = attempts.filter(({ outcome }) => outcome === "succeeded").map((a) => a.fence);
    if (fences.length < 2) return [];
    return [{ kind: "doubled", job, why: `finishes of fences ${fences.join(", ")} were accepted` }];
  });
}

/** Whether a process was alive with a valid lease at an instant; see the head of this file. */
function signsOfLife({ ledger, leaseMs }: History): (pid: number, at: number) => boolean {
  const signs = Map.groupBy(ledger, ({ pid }) => pid);
  return (pid, at) => {
    const times = (signs.get(pid) ?? []).map((line) => line.at);
    return (
      times.some((time) => time <= at && time > at - leaseMs / 2) && times.some((time) => time > at)
    );
  };
}

function wasOvertaken(run: Run, ofJob: readonly Run[]): boolean {
  const { closed } = run;
  return ofJob.some(
    ({ place, fence }) => fence > run.fence && closed !== null && place < closed.place,
  );
}

function isGivenUp(stored: StoredJob | undefined): boolean {
  return stored?.state === "failed" || stored?.state === "cancelled";
}

function hasEnded({ closed }: Run): boolean {
  return closed?.what === "end";
}

function name({ fence, pid }: { readonly fence: number; readonly pid: number }): string {
  return `fence ${fence} of process ${pid}`;
}
