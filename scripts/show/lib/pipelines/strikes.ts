/** Kills the pipeline at one point of the store's port, lets it be taken over, and judges. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { JobStore } from "../../../../src/store/store.ts";
import type { JobRecord } from "../../../../src/store/types/records.ts";
import { startChild } from "../fleet/children.ts";
import type { Child } from "../fleet/children.ts";
import { LogReader } from "../fleet/ledger.ts";
import { EXPECTED, NAMES } from "./pipeline.ts";
import type { Deed, PipelineSettings } from "./pipeline.ts";
import { openStore } from "../databases.ts";
import type { Places } from "../databases.ts";

const PROGRAM = new URL("pipeline.child.ts", import.meta.url);
const RUN_MS_MAX = 90_000;
const LIMIT = 1_000;

/** Where a process dies, and which one it is: the first, or one that has taken over already. */
export interface Blow {
  readonly point: string;
  readonly pass: number;
  readonly isInTakeover: boolean;
}

/** What a blow did. `missed`: the run did not come by so often. */
export interface Struck {
  readonly blow: Blow;
  readonly end: "killed" | "missed";
  /** Runs that were taken over from a process that was killed, and from one that was alive. */
  readonly takeovers: number;
  readonly fromLiving: number;
  /** What stood in the store when the process was dead. */
  readonly phasesKept: number;
  readonly unitsKept: number;
  readonly violations: readonly string[];
}

/** Where the first of two dies, so that the second has something to take over. */
const PRELUDE = "after:record=kill@2";

/** How often a run calls each verb: undisturbed, and after a takeover. */
export async function recordedCalls(
  places: Places,
  leaseMs: number,
  isInTakeover: boolean,
): Promise<ReadonlyMap<string, number>> {
  const stage = new Stage(places, leaseMs);
  if (isInTakeover) await stage.run(PRELUDE);
  const calls = join(places.folder, `calls-${isInTakeover}.json`);
  await stage.run(null, calls);
  const read: Record<string, number> = JSON.parse(readFileSync(calls, "utf8"));
  return new Map(Object.entries(read));
}

export async function strike(places: Places, leaseMs: number, blow: Blow): Promise<Struck> {
  const stage = new Stage(places, leaseMs);
  const killed = new Set<number>();
  if (blow.isInTakeover) killed.add((await stage.run(PRELUDE)).pid);
  const victim = await stage.run(`${blow.point}=kill@${blow.pass}`);
  if (victim.end === "SIGKILL") killed.add(victim.pid);
  await using store = await openedStore(stage.url);
  const before = await pictureOf(store.store);
  const heir = victim.end === "SIGKILL" ? await stage.run(null) : victim;
  const after = await pictureOf(store.store);
  const deeds = stage.deeds();
  const violations = [
    ...(heir.end === 0 ? [] : [`the process that took over ended with ${heir.end}`]),
    ...endViolations(after),
    ...repetitions(after, deeds),
    ...disorder(deeds),
    ...wasted(before, victim.deeds, deeds),
  ];
  return {
    blow,
    end: victim.end === "SIGKILL" ? "killed" : "missed",
    ...takeoversIn(after, deeds, killed),
    phasesKept: before.phases.length,
    unitsKept: before.units.filter(({ state }) => state === "completed").length,
    violations,
  };
}

interface Run {
  readonly pid: number;
  readonly end: number | NodeJS.Signals;
  /** How many deeds had been done when it ended. */
  readonly deeds: number;
}

/** One database and one log, for the processes that have the job one after the other. */
class Stage {
  readonly url: string;
  readonly #places: Places;
  readonly #settings: PipelineSettings;
  readonly #log: LogReader<Deed>;

  constructor(places: Places, leaseMs: number) {
    this.#places = places;
    this.url = places.next();
    const deeds = join(places.folder, `deeds-${(stages += 1)}.jsonl`);
    this.#settings = { url: this.url, deeds, leaseMs };
    this.#log = new LogReader(deeds);
  }

  deeds(): readonly Deed[] {
    return this.#log.lines();
  }

  /** Runs a process to its end, whatever that is. */
  async run(failpoint: string | null, calls?: string): Promise<Run> {
    const settings = calls === undefined ? this.#settings : { ...this.#settings, calls };
    const child = startChild({
      program: PROGRAM,
      settings,
      log: join(this.#places.folder, "words.txt"),
      env: failpoint === null ? {} : { MILLRACE_FAILPOINTS: failpoint },
    });
    const end = await endOf(child);
    return { pid: child.pid, end, deeds: this.deeds().length };
  }
}

let stages = 0;

/** One that hangs is a violation, not a show without an end. */
async function endOf(child: Child): Promise<number | NodeJS.Signals> {
  const timer = setTimeout(() => child.kill("SIGABRT"), RUN_MS_MAX);
  const end = await child.ended;
  clearTimeout(timer);
  return end;
}

async function openedStore(url: string) {
  const store = await openStore(url);
  return { store, [Symbol.asyncDispose]: () => store.close() };
}

type Picture = Awaited<ReturnType<typeof pictureOf>>;

/** All that the store says of the pipeline. */
async function pictureOf(store: JobStore) {
  const { jobs } = await store.list({ type: "report" }, { limit: LIMIT });
  const [job] = jobs;
  const { jobs: children } = await store.list({ type: "leaf" }, { limit: LIMIT });
  const holders = await Promise.all(NAMES.map((name) => store.lockHolder("default", name)));
  const all = { jobs, children, taken: NAMES.filter((_, index) => holders[index] !== null) };
  if (job === undefined) {
    return { ...all, phases: [], units: [], attempts: [], feed: [], logs: [] };
  }
  const progress = await store.progress(job.id);
  return {
    ...all,
    logs: await store.logs(job.id, { limit: LIMIT }),
    phases: progress?.phases ?? [],
    units: await store.units(job.id, {}, { limit: LIMIT }),
    attempts: await store.attempts(job.id),
    feed: await toldOf(store, job),
  };
}

async function toldOf(store: JobStore, { id }: JobRecord): Promise<readonly string[]> {
  const entries = await store.feed(0, LIMIT);
  return entries.flatMap(({ kind, jobs, details }) =>
    jobs.flatMap((job, index) => {
      const { phase = "" } = JSON.parse(details?.[index] ?? "{}");
      return job === id ? [`${kind} ${phase}`.trim()] : [];
    }),
  );
}

/** What the end must be, however often a process died on the way. */
function endViolations(picture: Picture): readonly string[] {
  const { jobs, children, phases, units, feed, taken, attempts, logs } = picture;
  const results = phases.map(({ name, result }) => ({ name, result: parsed(result) }));
  const ended = units.map(({ phase, unit, state, result }) => ({
    phase,
    unit,
    result: state === "completed" ? parsed(result) : `not completed: ${state}`,
  }));
  const born = children.map(({ payload }) => parsed(payload)?.name);
  const lastRun = attempts.at(-1)?.n;
  const lastLines = logs.filter(({ n }) => n === lastRun).map(({ message }) => message);
  const once = (event: string): boolean => feed.filter((told) => told === event).length === 1;
  const phaseEvents = EXPECTED.phases.map(({ name }) => `job:phase:completed ${name}`);
  return [
    differs("the number of jobs", jobs.length, 1),
    differs("the state", jobs[0]?.state, "completed"),
    differs("the results of the phases", sorted(results), sorted(EXPECTED.phases)),
    differs("the units", sorted(ended), sorted(EXPECTED.units)),
    differs("the children", sorted(born), sorted(EXPECTED.children)),
    differs("their states", [...new Set(children.map(({ state }) => state))], ["completed"]),
    differs("names that are still taken", taken, []),
    differs("the log of the last run", lastLines, EXPECTED.lastLines),
    ...["job:enqueued", "job:completed", ...phaseEvents].map((event) =>
      once(event) ? null : `${event} is not exactly once in the feed`,
    ),
  ].filter((violation) => violation !== null);
}

/** A job that runs after another begins when that has ended, however often a process died. */
function disorder(deeds: readonly Deed[]): readonly string[] {
  const names = deeds.filter(({ what }) => what === "child").map(({ name }) => name);
  const isAfter = names.indexOf("notice") < names.indexOf("digest");
  return isAfter ? [] : ["digest ran before notice"];
}

/** Nothing is done twice by one run, nor by a second one unless the first was taken over. */
function repetitions({ attempts }: Picture, deeds: readonly Deed[]): readonly string[] {
  const ended = new Map(attempts.map(({ fence, outcome }) => [fence, outcome]));
  const groups = Map.groupBy(deeds, ({ what, name }) => `${what} ${name}`);
  return [...groups].flatMap(([name, group]) => {
    const fences = group.map(({ fence }) => fence);
    const twice = fences.length > new Set(fences).size ? [`${name} was done twice by one run`] : [];
    if (group[0]?.what === "child") return twice;
    const early = fences.slice(0, -1).filter((fence) => ended.get(fence) !== "crashed");
    return [...twice, ...early.map((fence) => `${name} was done again after run ${fence}`)];
  });
}

/** What stood in the store at the death of the victim is not done again. */
function wasted(before: Picture, done: number, deeds: readonly Deed[]): readonly string[] {
  const stored = new Set([
    ...before.phases.map(({ name }) => `phase ${name}`),
    ...before.units
      .filter(({ state }) => state === "completed")
      .map(({ phase, unit }) => `unit ${phase}/${unit}`),
  ]);
  return deeds
    .slice(done)
    .map(({ what, name }) => `${what} ${name}`)
    .filter((name) => stored.has(name))
    .map((name) => `${name} was stored and done again`);
}

function takeoversIn({ attempts }: Picture, deeds: readonly Deed[], killed: ReadonlySet<number>) {
  const holders = new Map(deeds.map(({ fence, pid }) => [fence, pid]));
  const crashed = attempts.filter(({ outcome }) => outcome === "crashed");
  const fromLiving = crashed.filter(({ fence }) => {
    const pid = holders.get(fence ?? 0);
    return pid !== undefined && !killed.has(pid);
  });
  return { takeovers: crashed.length - fromLiving.length, fromLiving: fromLiving.length };
}

function parsed(text: string | null): any {
  return text === null ? null : JSON.parse(text);
}

function sorted(items: readonly unknown[]): readonly string[] {
  return items.map((item) => JSON.stringify(item)).toSorted();
}

function differs(what: string, found: unknown, wanted: unknown): string | null {
  if (isDeepStrictEqual(found, wanted)) return null;
  return `${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`;
}
