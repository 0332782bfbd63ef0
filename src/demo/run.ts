/**
 * The demo: a producer that enqueues about two jobs per second, a worker that runs them and has a
 * schedule, and what operators arrange. The producer pauses while too many jobs wait.
 */
import type { AnyJob, Millrace } from "../index.ts";
import { archive, digest, email, invoice, publish, report, sync, thumbnail } from "./jobs.ts";
import type { DemoDeps } from "./jobs.ts";
import { arrange, reviewLetters } from "./operator.ts";

/** The clock, the dice and the error handler of the demo. */
export interface DemoWorld {
  /** Calls `wake` once after `ms`. The returned function cancels the timer. */
  after(ms: number, wake: () => void): () => void;
  /** Uniform in [0, 1). */
  random(): number;
  failed(error: unknown): void;
  /** The version that the worker tells. */
  readonly appVersion?: string;
}

/** All jobs of the demo, for the server, which needs their payloads and lanes. */
export const demoJobs: readonly AnyJob[] = [
  email,
  thumbnail,
  sync,
  report,
  invoice,
  archive,
  publish,
];

export interface Demo {
  /** Stops the producer and the worker. Unfinished jobs are returned to the queue. */
  stop(): Promise<void>;
}

const STEP_MS = 500;
/** A round has an edition in each of these stretches, so that editions count on by one. */
const STEPS_PER_EDITION = 10;
/** The service `ledger` has an outage in these steps: 20 seconds of every two minutes. */
const OUTAGE = { every: 240, from: 60, to: 100 };
/** An operation over the letters of one customer begins in this step of every two minutes. */
const REVIEW = { every: 240, at: 120 };
const APP_VERSION = "demo-1";
const TENANTS = ["acme", "umbra"];
const WAITING_MAX = 200;
const CALLED_OFF_AFTER_MS = 3_000;
const LANES = { fast: 3, general: 8 };
/** Short, so that Ctrl-C ends the demo soon. Running jobs are returned without a charge. */
const GRACE = "2s";

const PEOPLE = ["ada", "grace", "edsger", "barbara", "donald"];
const PICTURES = ["harbour", "mill", "river", "orchard"];

/** Enqueues the `n`th job; `later` schedules a follow-up. */
type DemoStep = (mill: Millrace, n: number, later: RunLater) => Promise<unknown>;
type RunLater = (ms: number, work: () => Promise<unknown>) => void;

const sendMail: DemoStep = (mill, n) =>
  mill.enqueue(email, { to: `${pick(PEOPLE, n)}@example.com` }, of(n));
const shrink: DemoStep = (mill, n) =>
  mill.enqueue(
    thumbnail,
    { picture: pick(PICTURES, n), width: 320 },
    { ...of(n), tags: { area: "media" } },
  );
const synchronise: DemoStep = (mill, n) => mill.enqueue(sync, { account: pick(PEOPLE, n) }, of(n));
const writeReport: DemoStep = (mill, n) =>
  mill.enqueue(report, { month: `2026-${String(1 + (n % 12)).padStart(2, "0")}` });
const bill: DemoStep = (mill, n) =>
  mill.enqueue(invoice, { customer: pick(PEOPLE, n), number: n + Math.floor(n / 60) }, of(n));
const press: DemoStep = (mill, n) =>
  mill.enqueue(publish, { edition: Math.floor(n / STEPS_PER_EDITION) }, of(n));
const remind: DemoStep = (mill, n) =>
  mill.enqueue(email, { to: `${pick(PEOPLE, n)}@example.com` }, { delay: "20s" });
const changeOnesMind: DemoStep = async (mill, _, later) => {
  const { id } = await mill.enqueue(archive);
  later(CALLED_OFF_AFTER_MS, () => mill.jobs.cancel(id, "the export is no longer needed"));
};

/** Two customers take turns. */
function of(n: number): { tenant: string } {
  return { tenant: pick(TENANTS, Math.floor(n / 2)) };
}

/** The order of the jobs. One round takes half a minute. */
const ROUND: readonly DemoStep[] = [
  [sendMail, shrink, sendMail, synchronise, press, sendMail],
  [sendMail, shrink, synchronise, sendMail, writeReport, sendMail],
  [sendMail, shrink, press, sendMail, changeOnesMind, sendMail],
  [synchronise, sendMail, shrink, remind, sendMail, shrink],
  [sendMail, synchronise, bill, press, bill, sendMail],
  [sendMail, shrink, sendMail, writeReport, sendMail, synchronise],
  [shrink, sendMail, press, sendMail, shrink, sendMail],
  [sendMail, synchronise, remind, sendMail, shrink, sendMail],
  [press, sendMail, shrink, sendMail, writeReport, sendMail],
  [sendMail, shrink, synchronise, sendMail, press, sendMail],
].flat();

export function runDemo(mill: Millrace, world: DemoWorld): Demo {
  const ledger = { isDown: false };
  const worker = mill.work({
    jobs: demoJobs,
    appVersion: world.appVersion ?? APP_VERSION,
    schedules: [digest],
    lanes: LANES,
    grace: GRACE,
    deps: depsOf(world, ledger),
    signals: false,
  });
  const producer = startProducer(mill, world, ledger);
  return {
    async stop() {
      await producer.stop();
      await worker.stop();
    },
  };
}

/**
 * Enqueues one job per step, round after round, lets the ledger fail at times, and does what
 * operators do.
 */
export function startProducer(
  mill: Millrace,
  world: DemoWorld,
  ledger: { isDown: boolean } = { isDown: false },
): Demo {
  const plans = new Plans(world);
  let n = 0;
  const step = async (): Promise<void> => {
    const at = n % OUTAGE.every;
    ledger.isDown = at >= OUTAGE.from && at < OUTAGE.to;
    try {
      if (n === 0) await arrange(mill);
      if (n % REVIEW.every === REVIEW.at) await reviewLetters(mill);
      if (await hasRoom(mill)) await pick(ROUND, n)(mill, n, (ms, work) => plans.add(ms, work));
    } finally {
      n += 1;
      plans.add(STEP_MS, step);
    }
  };
  plans.add(STEP_MS, step);
  return plans;
}

/** The pending timers of the demo. */
class Plans implements Demo {
  readonly #world: DemoWorld;
  readonly #callOffs = new Set<() => void>();
  readonly #underWay = new Set<Promise<unknown>>();
  #isStopped = false;

  constructor(world: DemoWorld) {
    this.#world = world;
  }

  add(ms: number, work: () => Promise<unknown>): void {
    if (this.#isStopped) return;
    const callOff = this.#world.after(ms, () => {
      this.#callOffs.delete(callOff);
      const ended = work()
        .catch((error: unknown) => this.#world.failed(error))
        .finally(() => this.#underWay.delete(ended));
      this.#underWay.add(ended);
    });
    this.#callOffs.add(callOff);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const callOff of this.#callOffs) callOff();
    await Promise.all(this.#underWay);
  }
}

async function hasRoom(mill: Millrace): Promise<boolean> {
  const { scheduled, queued } = await mill.jobs.stats();
  return scheduled + queued <= WAITING_MAX;
}

function depsOf(world: DemoWorld, ledger: { readonly isDown: boolean }): DemoDeps {
  return {
    isLedgerDown: () => ledger.isDown,
    random: () => world.random(),
    pause: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const callOffPause = world.after(ms, resolve);
        signal.addEventListener(
          "abort",
          () => {
            callOffPause();
            reject(signal.reason);
          },
          { once: true },
        );
      }),
  };
}

function pick<Item>(items: readonly Item[], n: number): Item {
  const item = items[n % items.length];
  if (item === undefined) throw new Error("the list is empty");
  return item;
}
