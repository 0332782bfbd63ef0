/**
 * A Millrace for tests: the real client, real workers and a real SQLite store in memory, on a clock
 * that only the test moves.
 */
import { defaults, type Preset } from "../core/presets.ts";
import type { Clock, Dice } from "../core/clock.ts";
import { durationMs, type Duration } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import type { OutcomeName } from "../core/outcome.ts";
import type { JobView, Millrace } from "../api/client.ts";
import type { Logger } from "../api/context.ts";
import type { JobContract } from "../api/contract.ts";
import { definitionOf } from "../api/definition.ts";
import type { Job } from "../api/job.ts";
import type { AnyJob, WorkOptions } from "../api/worker.ts";
import { soon, systemClock, systemDice } from "../lib/system.ts";
import type { JobWorker } from "../runtime/worker.ts";
import { makeSqliteStore } from "../store/sqlite/create.ts";
import type { JobStore } from "../store/store.ts";
import { findEnqueued, refuseEnqueued, type ExpectedJob } from "./expect-enqueued.ts";
import { MortalMill } from "./mortal-mill.ts";
import { Traffic, type CrashPoint, type Mortal } from "./mortal-store.ts";
import { performWith, type PerformArgs } from "./perform.ts";
import { makeTestClock, type MovableClock, type TestClock } from "./test-clock.ts";

/** The number of event loop turns without a call to the store after which all work is done. */
const STILL_TURNS = 8;
const RUNS_MAX = 10_000;
/** The real time within which at least one run must end; handlers may wait for real I/O. */
const PATIENCE_MS = 10_000;
/** Longer than any stop of a worker. */
const STOP_SECONDS_MAX = 100;
const BATCH = 500;

export interface TestMillOptions {
  /** The first time of the clock, in milliseconds since the epoch. Default: a Monday morning. */
  readonly startAt?: number;
  /** The tenant of jobs that are enqueued without one. Default: `default`. */
  readonly tenant?: string;
  /** A preset that replaces the default numbers. */
  readonly preset?: Preset;
  readonly logger?: Logger;
  /** Returns a random number in [0, 1). Default: always 0.5, with which waits have no jitter. */
  readonly random?: () => number;
}

/** The options of a worker, without its jobs. */
export type DrainOptions<J extends readonly AnyJob[]> = Omit<WorkOptions<J>, "jobs"> & {
  /** The maximum number of runs, for jobs that enqueue each other endlessly. Default 10,000. */
  readonly runsMax?: number;
};

type DrainArgs<J extends readonly AnyJob[]> =
  {} extends DrainOptions<J> ? [options?: DrainOptions<J>] : [options: DrainOptions<J>];

/** Every member works without its object, so that a test may destructure it. */
export interface TestMill extends AsyncDisposable {
  readonly mill: Millrace;
  /** A clock that only {@link TestMill.advance} moves. */
  readonly clock: TestClock;

  /** Runs one handler without a store, like the exported `perform`, with the clock of the test. */
  readonly perform: <Input, R, Deps>(
    job: Job<string, Input, R, Deps>,
    ...args: PerformArgs<NoInfer<Input>, NoInfer<Deps>>
  ) => Promise<R>;

  /**
   * Runs all jobs that are due, and the jobs that become due meanwhile, until no job is due.
   * Returns the number of runs by outcome. Throws when handlers do not end, and after `runsMax`
   * runs.
   */
  readonly drain: <const J extends readonly AnyJob[]>(
    jobs: J,
    ...args: DrainArgs<J>
  ) => Promise<Readonly<Record<OutcomeName, number>>>;

  /** Moves the clock. Timers fire at their time, jobs become due, dead workers are detected. */
  readonly advance: (duration: Duration) => Promise<void>;

  /** Resolves when workers and listeners have nothing left to do at the current time. */
  readonly settled: () => Promise<void>;

  /** Returns a job of this type that matches, or throws an AssertionError that lists all jobs. */
  readonly expectEnqueued: <Input>(
    job: JobContract<string, Input, unknown>,
    payload?: PartOf<NoInfer<Input>>,
    options?: ExpectedJob,
  ) => Promise<JobView>;

  /** Throws an AssertionError when a job of this type matches. */
  readonly expectNotEnqueued: <Input>(
    job: JobContract<string, Input, unknown>,
    payload?: PartOf<NoInfer<Input>>,
    options?: ExpectedJob,
  ) => Promise<void>;

  /**
   * The next worker that reaches this point dies there, as if its process had been killed. 45
   * seconds later its jobs are queued again. The crash counts for jobs that had started.
   */
  readonly crashAt: (point: CrashPoint) => void;
}

/** A part of a value, at every depth. */
type PartOf<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: PartOf<T[K]> }
    : T;

/**
 * Makes a Millrace on a database in memory, with a clock that only `advance` moves.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { defineJob, TransientError, typed } from "millrace";
 * import { createTestMill } from "millrace/testing";
 *
 * let isUp = false;
 * const email = defineJob({ type: "email", payload: typed<{ to: string; text: string }>() }).run(
 *   ({ to }) => {
 *     if (!isUp) throw new TransientError("the mail server hung up");
 *     return `sent to ${to}`;
 *   },
 * );
 *
 * await using test = await createTestMill();
 * const { mill, drain, advance, expectEnqueued } = test;
 * const job = await mill.enqueue(email, { to: "ada", text: "Hello" });
 * await expectEnqueued(email, { to: "ada" });
 *
 * assert.equal((await drain([email])).failed, 1);
 * isUp = true;
 * await advance("2s");
 * assert.equal((await drain([email])).succeeded, 1);
 * assert.equal(await mill.result(job), "sent to ada");
 * ```
 */
export async function createTestMill(options: TestMillOptions = {}): Promise<TestMill> {
  return (await openTestMill(options)).test;
}

/** A test mill with its store as nothing wraps it: a test of ours may replace one of its verbs. */
export async function openTestMill(
  options: TestMillOptions,
): Promise<{ readonly test: TestMill; readonly store: JobStore }> {
  const raw = makeStore(options);
  return { test: await testMillOn(raw, options), store: raw.store };
}

interface RawStore {
  readonly store: JobStore;
  readonly clock: MovableClock;
  readonly dice: Dice;
}

function makeStore(options: TestMillOptions): RawStore {
  const clock = makeTestClock(options.startAt);
  const random = options.random ?? ((): number => 0.5);
  const dice = { random, bytes: (count: number) => systemDice.bytes(count) };
  const store = makeSqliteStore({ path: ":memory:" }, { clock: storeClock(clock), dice });
  return { store, clock, dice };
}

async function testMillOn(
  { store: raw, clock, dice }: RawStore,
  options: TestMillOptions,
): Promise<TestMill> {
  const traffic = new Traffic();
  const store = traffic.through(raw);
  await store.open();
  const { tenant = "default", logger = SILENT, preset = defaults } = options;
  const parts = { store, clock, dice, logger, tenant, preset };
  const mill = new MortalMill(parts);
  await mill.jobDefaults.payloads?.declare(preset.payloadRules);
  const settled = (): Promise<void> => untilStill(traffic, () => {});

  return {
    mill,
    clock,
    settled,
    async perform(job, ...[payload, performOptions]) {
      const given = performOptions ?? {};
      const result: any = await performWith(clock, definitionOf(job), payload, given);
      return result;
    },
    drain(jobs, ...[drainOptions]) {
      const { runsMax = RUNS_MAX, ...given }: { runsMax?: number } = drainOptions ?? {};
      return drain(mill, traffic, { ...given, jobs }, runsMax);
    },
    advance: (duration) => advance({ clock, store, settled }, durationMs(duration, "duration")),
    expectEnqueued: ({ type }, payload, job = {}) =>
      findEnqueued(mill.jobs, { type, payload, job }),
    expectNotEnqueued: ({ type }, payload, job = {}) =>
      refuseEnqueued(mill.jobs, { type, payload, job }),
    crashAt: (point) => mill.crashAt(point),
    [Symbol.asyncDispose]: () => dispose(mill, clock, settled),
  };
}

/** Without timers: no other process can change or lock a database in memory. */
function storeClock(clock: Clock): Clock {
  return { now: () => clock.now(), monotonic: () => clock.monotonic(), after: () => () => {} };
}

async function drain(
  mill: MortalMill,
  traffic: Traffic,
  options: WorkOptions<readonly AnyJob[]>,
  runsMax: number,
): Promise<Readonly<Record<OutcomeName, number>>> {
  const { worker, mortal } = mill.start(options);
  const check = progressCheck(worker, mortal, runsMax);
  do {
    await untilStill(traffic, check);
  } while (!mortal.isDead && worker.running > 0);
  if (!mortal.isDead) await worker.stop();
  return mortal.ended;
}

/** Throws if there are too many runs, or if no run ends. */
function progressCheck(worker: JobWorker, { ended }: Mortal, runsMax: number): () => void {
  let seen = 0;
  let since = systemClock.monotonic();
  return () => {
    const now = Object.values(ended).reduce((total, count) => total + count, 0);
    if (now > runsMax) throw new Error(`drain: ${now} runs, and there are still due jobs`);
    if (now !== seen) since = systemClock.monotonic();
    seen = now;
    if (systemClock.monotonic() - since < PATIENCE_MS) return;
    throw new Error(
      `drain: ${worker.running} job(s) are running, and none has ended for ${PATIENCE_MS} ms; ` +
        "if a handler waits for the clock, start a worker with mill.work and advance",
    );
  };
}

async function advance(
  { clock, store, settled }: { clock: MovableClock; store: JobStore; settled: () => Promise<void> },
  ms: number,
): Promise<void> {
  await clock.move(ms, settled);
  while ((await store.promote(BATCH)).moved === BATCH) await turn();
  await settled();
}

/** Stops workers, but no handler can delay the end of a test. */
async function dispose(
  mill: MortalMill,
  clock: MovableClock,
  settled: () => Promise<void>,
): Promise<void> {
  const closing = { isOver: false };
  const closed = mill.close(0).then(
    () => null,
    (error: unknown) => error,
  );
  void closed.then(() => (closing.isOver = true));
  await clock.move(0, settled);
  for (let second = 0; !closing.isOver && second < STOP_SECONDS_MAX; second += 1) {
    await clock.move(1_000, settled);
  }
  const error = await closed;
  const isExcused = error instanceof MillraceError && error.code === "STOP_TIMED_OUT";
  if (error !== null && !isExcused) throw error;
}

async function untilStill(traffic: Traffic, check: () => void): Promise<void> {
  for (let still = 0; still < STILL_TURNS;) {
    const { calls } = traffic;
    await turn();
    check();
    still = traffic.open === 0 && traffic.calls === calls ? still + 1 : 0;
  }
}

/** One turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => soon(resolve));
}

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
