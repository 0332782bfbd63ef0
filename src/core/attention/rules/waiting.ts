/** Jobs that wait: too long for their lane, or for a worker that does not exist. */
import { closest } from "../../../lib/closest.ts";
import { shellWord } from "../../../lib/shell-word.ts";
import { formatDuration } from "../../duration.ts";
import { notTaken, type Wanted } from "../../takers.ts";
import type { Facts, WaitingFact, WorkerFact } from "../facts.ts";
import type { Counted, FindingOf } from "../finding.ts";
import { laneTargetMs } from "../lane-targets.ts";
import { jobsText, jobsWait, sumOf } from "../words.ts";

/** How long jobs may wait for a worker: a deploy replaces workers within this time. */
const WORKER_MS = 60_000;

export function lateLanes(facts: Facts, now: number): readonly FindingOf<"waiting">[] {
  const taken = facts.groups.filter((group) => missingFor(group, facts.workers) === null);
  return [...Map.groupBy(taken, ({ lane }) => lane)].flatMap(([lane, groups]) => {
    const ageMs = oldestOf(groups);
    const targetMs = laneTargetMs(lane);
    if (ageMs <= targetMs) return [];
    const waiting = sumOf(groups.map((group) => group.waiting));
    return {
      rule: "waiting",
      level: "broken",
      subject: { kind: "lane", name: lane },
      sentence:
        `The oldest waiting job of the lane ${lane} has been due for ${formatDuration(ageMs)}, ` +
        `and ${formatDuration(targetMs)} are expected; ${jobsWait(waiting)} there.`,
      details: { lane, ageMs, targetMs, waiting },
      since: new Date(now - ageMs),
      screen: "lanes",
      action: { operation: null, command: "millrace lanes" },
    };
  });
}

export function untakenJobs(facts: Facts, now: number): readonly FindingOf<"not_taken">[] {
  const working = workingOf(facts.workers);
  if (working.length === 0) return [];
  const untaken = facts.groups.flatMap((group) => {
    const missing = missingFor(group, facts.workers);
    return missing === null ? [] : [{ ...group, missing }];
  });
  const byName = Map.groupBy(untaken, (each) => JSON.stringify([each.type, nameOf(each)]));
  return [...byName.values()].flatMap((groups) => {
    const [first] = groups;
    const ageMs = oldestOf(groups);
    if (first === undefined || ageMs < WORKER_MS) return [];
    return untakenFinding({ first, groups, working, since: new Date(now - ageMs) });
  });
}

interface Untaken extends WaitingFact {
  readonly missing: keyof Wanted;
}

function untakenFinding({
  first,
  groups,
  working,
  since,
}: {
  readonly first: Untaken;
  readonly groups: readonly Untaken[];
  readonly working: readonly WorkerFact[];
  readonly since: Date;
}): FindingOf<"not_taken"> {
  const { type, missing } = first;
  const name = nameOf(first);
  const waiting = sumOf(groups.map((group) => group.waiting));
  const known = [...new Set(working.flatMap(({ types }) => types))];
  const didYouMean = missing === "type" ? closest(type, known) : null;
  const whose = missing === "type" ? "" : ` of the ${missing} ${name}`;
  const meant = didYouMean === null ? "" : ` Did you mean ${didYouMean}?`;
  return {
    rule: "not_taken",
    level: "broken",
    subject: { kind: "type", name: type },
    sentence: `No worker takes the type ${type}${whose}: ${jobsWait(waiting)}.${meant}`,
    details: { type, missing, name, waiting, didYouMean },
    since,
    screen: "types",
    action: {
      operation: null,
      command: `millrace jobs list --state queued --type ${shellWord(type)}`,
    },
  };
}

export function noWorker(facts: Facts, now: number): readonly FindingOf<"no_worker">[] {
  const { workers, groups } = facts;
  const ageMs = oldestOf(groups);
  if (workers === null || workingOf(workers).length > 0 || ageMs < WORKER_MS) return [];
  const waiting = sumOf(groups.map((group) => group.waiting));
  const quiet = workers.filter(({ isAlive }) => isAlive).length;
  const why = quiet === 0 ? "no worker is running" : "every worker is quiet";
  return [
    {
      rule: "no_worker",
      level: "broken",
      subject: { kind: "installation", name: "all" },
      sentence: `${jobsWait(waiting)}, and ${why}.`,
      details: { waiting, quiet },
      since: new Date(now - ageMs),
      screen: "workers",
      action: { operation: null, command: "millrace worker --jobs FILE" },
    },
  ];
}

export function silentWorkers(
  { workers }: Facts,
  now: number,
): readonly FindingOf<"worker_silent">[] {
  const silent = (workers ?? []).filter(({ isAlive }) => !isAlive);
  return silent.map(({ id, host, pid, heartbeatAgoMs, running }) => ({
    rule: "worker_silent",
    level: "broken",
    subject: { kind: "worker", name: id },
    sentence:
      `The worker ${id} (process ${pid} on ${host}) has sent no heartbeat for ` +
      `${formatDuration(heartbeatAgoMs)}; it holds ${jobsText(exactly(running))}.`,
    details: { worker: id, host, pid, heartbeatAgoMs, running },
    since: new Date(now - heartbeatAgoMs),
    screen: "workers",
    action: { operation: null, command: "millrace workers list" },
  }));
}

/** What no worker takes of these jobs. Null: a worker takes them, or the workers are not known. */
function missingFor(wanted: Wanted, workers: Facts["workers"]): keyof Wanted | null {
  return workers === null ? null : notTaken(wanted, workingOf(workers));
}

function workingOf(workers: Facts["workers"]): readonly WorkerFact[] {
  return (workers ?? []).filter(({ isAlive, isQuiet }) => isAlive && !isQuiet);
}

function nameOf(untaken: Untaken): string {
  return untaken[untaken.missing];
}

/** Below zero: none of them waits. */
function oldestOf(groups: readonly WaitingFact[]): number {
  return Math.max(-1, ...groups.map(({ oldestMs }) => oldestMs ?? -1));
}

function exactly(count: number): Counted {
  return { count, atLeast: false };
}
