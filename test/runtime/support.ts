/** Shared by the tests of the runtime: virtual time, and handlers that wait for the test. */
import assert from "node:assert/strict";
import { defineJob, typed, type AttemptView } from "millrace";
import type { TestMill, TestMillOptions } from "millrace/testing";
import type { EventKind } from "../../src/store/types/records.ts";
import type { JobStore } from "../../src/store/store.ts";
import { openTestMill } from "../../src/testing/test-mill.ts";
import { eventsOf } from "../support/steps.ts";

export interface Logged {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A test mill that keeps what was logged. */
export interface RuntimeTest extends TestMill {
  readonly logged: readonly Logged[];
  readonly store: JobStore;
  /** What the feed tells of one job, oldest first. */
  readonly events: (job: { id: string }) => Promise<readonly EventKind[]>;
  /** The next call of this verb throws, as when the disk is full. */
  readonly failOnce: (verb: Verb) => void;
  readonly outcomes: (job: { id: string }) => Promise<readonly string[]>;
}

export async function openTest(options: TestMillOptions = {}): Promise<RuntimeTest> {
  const logged: Logged[] = [];
  const at =
    (level: string) =>
    (message: string, fields: object = {}): void => {
      logged.push({ level, message, fields: { ...fields } });
    };
  const logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const { test, store } = await openTestMill({ logger, ...options });
  return {
    ...test,
    logged,
    store,
    failOnce: (verb) => failOnce(store, verb),
    events: ({ id }) => eventsOf(store, id),
    async outcomes({ id }) {
      return (await test.mill.jobs.attempts(id)).map(({ outcome }) => outcome);
    },
  };
}

type Verb =
  | "acquireLocks"
  | "callServices"
  | "checkpoints"
  | "claim"
  | "claimProbe"
  | "countBehind"
  | "declareLimits"
  | "declareTypes"
  | "giveTurns"
  | "hold"
  | "keepPermits"
  | "reportCode"
  | "markStale"
  | "progress"
  | "promote"
  | "record"
  | "register"
  | "renew"
  | "rescue"
  | "runFunction"
  | "resolveDependencies"
  | "returnPrefetched"
  | "settle"
  | "silent"
  | "startPrefetched";

function failOnce(store: JobStore, verb: Verb): void {
  const restore = replaceVerb(store, verb, () => {
    restore();
    return Promise.reject(new Error(`planted: ${verb}`));
  });
}

/**
 * Puts something in the place of a verb, in the store itself, because a worker has its own view of
 * it. Answers how to put the verb back.
 */
export function replaceVerb(
  store: JobStore,
  verb: Verb,
  instead: (...args: any[]) => unknown,
): () => void {
  const original = store[verb];
  Reflect.set(store, verb, instead);
  return () => void Reflect.set(store, verb, original);
}

/** How often each of these verbs was called from now on. */
export function countCalls(store: JobStore, ...verbs: Verb[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const verb of verbs) {
    const call: (...args: any[]) => unknown = store[verb].bind(store);
    counts[verb] = 0;
    Reflect.set(store, verb, (...args: any[]) => {
      counts[verb] = (counts[verb] ?? 0) + 1;
      return call(...args);
    });
  }
  return counts;
}

/** Something a handler waits for until the test opens it. */
export interface Latch {
  readonly passed: Promise<void>;
  open(): void;
}

export function latch(): Latch {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: resolve };
}

/** Resolves never, rejects with the signal's reason: how a well-behaved handler waits. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** A value that the compiler would refuse, for the tests of what happens then. */
export function unchecked(value: unknown): any {
  return value;
}

/** How long the job waited between two runs. */
export function waitsOf(attempts: readonly AttemptView[]): readonly (number | null)[] {
  return attempts.map(({ finishedAt, nextRunAt }) =>
    nextRunAt === null ? null : nextRunAt.getTime() - finishedAt.getTime(),
  );
}

/** A worker of one slot that runs a job until `end` opens, with two more in its buffer. */
export async function withBuffer(kit: RuntimeTest) {
  const end = latch();
  const ran: number[] = [];
  const job = defineJob({ type: "buffered", payload: typed<number>(), timeout: "30s" }).run(
    async (number) => {
      ran.push(number);
      if (number === 1) await end.passed;
    },
  );
  const worker = kit.mill.work({ jobs: [job], lanes: { general: 1 } });
  // A lane keeps a buffer once it has seen that runs are short.
  await kit.mill.enqueue(job, 0);
  await kit.settled();
  const [running, ...buffered] = await kit.mill.enqueueMany([job.of(1), job.of(2), job.of(3)]);
  await kit.settled();
  assert.equal((await kit.store.workers(10))[0]?.prefetched, 2);
  return { worker, job, running, buffered, end, ran };
}
