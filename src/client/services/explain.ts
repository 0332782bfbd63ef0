/** The sentences of `jobs.explain` about services that hold a job back. */
import type { BreakerDetails, Explanation } from "../../api/control/explanation.ts";
import type { CountedJobs } from "../../api/jobs.ts";
import { shellWord } from "../../lib/shell-word.ts";
import type { JobStore } from "../../store/store.ts";
import type { Gate, JobRecord } from "../../store/types/records.ts";
import type { BreakerRecord } from "../../store/types/services.ts";
import { unknownBreaker } from "./breakers.ts";

/** The jobs of each place that are read to count those that wait. */
const COUNTED_MAX = 10_000;

/** Null: no service of the job is closed. If several are, that which keeps the job longest. */
export async function explainServices(
  store: JobStore,
  job: JobRecord,
  gates: readonly Gate[],
  now: number,
): Promise<Explanation | null> {
  // A job that is still behind the gate of a service that its type has used before returns soon.
  const used = (await store.breakers()).filter(({ types }) => types.includes(job.type));
  return explainClosures(
    store,
    used.flatMap((breaker) => closuresOf(breaker, job, gates, now)),
  );
}

/**
 * A job that is due later because of a service: a closed service has sent it back, or has failed
 * its last run, or is closed beyond the due time. Null: the job waits for its due time alone.
 */
export async function explainSentBack(
  store: JobStore,
  job: JobRecord,
  now: number,
): Promise<Explanation | null> {
  if (job.fault === null || job.runAt === null) return null;
  const { runAt, fault } = job;
  const gates = await store.gates();
  const known = await store.breakers();
  const isKnown = known.some(({ service }) => service === fault.service);
  const unknown = isKnown || fault.service === undefined ? [] : [unknownBreaker(fault.service)];
  const closures = [...known, ...unknown].flatMap((breaker) => {
    const isNamed = fault.service === breaker.service;
    const isUsed = breaker.types.includes(job.type);
    const isToBlame = ({ untilMs }: Closure): boolean => isNamed || (isUsed && untilMs > runAt);
    return closuresOf(breaker, job, gates, now).filter(isToBlame);
  });
  const explanation = await explainClosures(store, closures);
  return explanation === null ? null : dueAt(explanation, runAt);
}

/** One of the reasons why a service is closed. */
interface Closure {
  readonly service: string;
  /** When it ends by itself; a pause and a breaker that is kept open may have no end. */
  readonly untilMs: number;
  readonly isPause: boolean;
  explain(waiting: CountedJobs): Explanation;
}

/** What keeps the service closed for the job. While it has asked for a pause, no probe is made. */
function closuresOf(
  breaker: BreakerRecord,
  job: JobRecord,
  gates: readonly Gate[],
  now: number,
): readonly Closure[] {
  const { service, state, probeAtMs, parks } = breaker;
  const pauses = gates.filter(({ kind, name }) => kind === "service" && name === service);
  const asked = parks.filter(({ tenant }) => tenant === null || tenant === job.tenant);
  const opening: Closure = {
    service,
    untilMs: state === "half_open" ? now : (probeAtMs ?? Infinity),
    isPause: false,
    explain: (waiting) => explainBreaker(breaker, waiting, now),
  };
  return [
    ...pauses.map((pause) => ({
      service,
      untilMs: pause.until ?? Infinity,
      isPause: true,
      explain: (waiting: CountedJobs) => explainPause(pause, waiting),
    })),
    ...(state === "closed" ? [] : [opening]),
    ...asked.map((park) => ({
      service,
      untilMs: park.until,
      isPause: false,
      explain: (waiting: CountedJobs) => explainPark(service, park, waiting),
    })),
  ];
}

/** The closure that keeps the job longest, and the names of the other services. */
async function explainClosures(
  store: JobStore,
  closures: readonly Closure[],
): Promise<Explanation | null> {
  const [strongest, ...others] = closures.toSorted(byStrength);
  if (strongest === undefined) return null;
  const explanation = strongest.explain(await waitingOf(store, strongest.service));
  const services = new Set(others.map(({ service }) => service));
  services.delete(strongest.service);
  return withOthers(explanation, [...services]);
}

/** Pauses first, then what has no end, then the latest end. */
function byStrength(left: Closure, right: Closure): number {
  if (left.isPause !== right.isPause) return left.isPause ? -1 : 1;
  if (left.untilMs === right.untilMs) return 0;
  return right.untilMs > left.untilMs ? 1 : -1;
}

/** The other services must open as well before the job can start. */
function withOthers(explanation: Explanation, services: readonly string[]): Explanation {
  const [first, ...more] = services;
  if (first === undefined) return explanation;
  const which =
    more.length === 0 ? `service ${first} is` : `services ${listed([first, ...more])} are`;
  return { ...explanation, sentence: `${explanation.sentence} The ${which} closed as well.` };
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** The job of the explanation is not due before the given time. */
function dueAt(explanation: Explanation, runAt: number): Explanation {
  const until = new Date(Math.max(runAt, explanation.until?.getTime() ?? 0));
  const sentence = `${explanation.sentence} This job is due at ${iso(new Date(runAt))}.`;
  return { ...explanation, sentence, until };
}

async function waitingOf(store: JobStore, service: string): Promise<CountedJobs> {
  const gate = { kind: "service", name: service } as const;
  const { jobs, shared, isExact } = await store.countBehind(gate, COUNTED_MAX);
  return { count: jobs + shared, atLeast: !isExact };
}

function waitingText({ count, atLeast }: CountedJobs): string {
  const jobsWait = count === 1 ? "job waits" : "jobs wait";
  return `${atLeast ? "At least " : ""}${count} ${jobsWait}.`;
}

function explainPause(gate: Gate, waiting: CountedJobs): Explanation {
  const { name, by, reason } = gate;
  const whose = by === null ? "" : ` by ${by}`;
  const sentence = `The service ${name} is paused${whose}: ${reason}. ${waitingText(waiting)}`;
  const hint = `To resume: millrace resume --service ${shellWord(name)}`;
  return explainedPause(gate, sentence, hint, waiting);
}

/** The explanation of a pause of any kind. */
export function explainedPause(
  gate: Gate,
  sentence: string,
  hint: string,
  waiting: CountedJobs | null,
): Explanation {
  const { kind, name, by, reason } = gate;
  const until = gate.until === null ? null : new Date(gate.until);
  const details = { kind, name, by, reason, until, waiting };
  const own = { sentence, reason: "paused", hint, details } as const;
  return until === null ? own : { ...own, until };
}

function explainBreaker(breaker: BreakerRecord, waiting: CountedJobs, now: number): Explanation {
  const { service, failures, reason, by, probeAtMs } = breaker;
  const details = breakerDetails(breaker, waiting);
  const rest = waitingText(waiting);
  const unavailable = `The service ${service} is unavailable: its breaker is`;
  const reset = `To try it now: millrace breakers reset ${shellWord(service)}`;
  const last = reason === null ? "" : `; last: ${reason}`;
  if (details.state === "half_open") {
    const sentence = `${unavailable} half-open, and one job tries the service${last}. ${rest}`;
    const hint = `It starts when that job succeeds. ${reset}`;
    return { sentence, reason: "breaker", hint, details };
  }
  if (probeAtMs === null) {
    const whose = by === null ? "" : ` by ${by}`;
    const why = reason === null ? "" : `: ${reason}`;
    const sentence = `${unavailable} kept open${whose}${why}. ${rest}`;
    return { sentence, reason: "breaker", hint: reset, details };
  }
  const until = new Date(probeAtMs);
  const count = `${failures} ${failures === 1 ? "failure" : "failures"}`;
  const when = probeAtMs <= now ? "open, and the next job tries it" : `open until ${iso(until)}`;
  const sentence = `${unavailable} ${when} (${count}${last}). ${rest}`;
  const hint = `Then one job tries the service. ${reset}`;
  return { sentence, reason: "breaker", hint, until, details };
}

function breakerDetails(breaker: BreakerRecord, waiting: CountedJobs): BreakerDetails {
  const { service, failures, reason, by, probeAtMs, probe } = breaker;
  return {
    service,
    state: breaker.state === "half_open" ? "half_open" : "open",
    failures,
    reason,
    by,
    probeAt: probeAtMs === null ? null : new Date(probeAtMs),
    probe: probe?.job ?? null,
    waiting,
  };
}

function explainPark(
  service: string,
  { tenant, until, reason }: BreakerRecord["parks"][number],
  waiting: CountedJobs,
): Explanation {
  const whom = tenant === null ? "" : ` for the tenant ${tenant}`;
  const why = reason === "" ? "" : ` (${reason})`;
  const at = new Date(until);
  const asked = `The service ${service} has asked for a pause${whom}`;
  return {
    sentence: `${asked} until ${iso(at)}${why}. ${waitingText(waiting)}`,
    reason: "rate_limited",
    hint: `To try it now: millrace breakers reset ${shellWord(service)}`,
    until: at,
    details: { service, tenant, until: at, waiting },
  };
}

function iso(at: Date): string {
  return at.toISOString();
}
