/**
 * The store of a worker that can crash: after the crash no call has an effect or an answer, as if
 * the process had been killed. Also counts calls, so that a test knows when nothing is pending.
 */
import type { OutcomeName } from "../core/outcome.ts";
import type { JobStore } from "../store/store.ts";
import type { Verb } from "../store/verbs.ts";
import { wrapStore, type VerbWrapper } from "../store/wrap-store.ts";

/**
 * The point at which a worker dies. `start`: its jobs have started in the store, and no handler has
 * run. `record`: a note of a handler, such as its progress or the end of a phase or unit, is not
 * stored. `settle`: a handler has ended, and its result is not stored.
 */
export type CrashPoint = "start" | "record" | "settle";

/** Counts the calls of the store. */
export class Traffic {
  /** All calls so far, and the pending ones. */
  calls = 0;
  open = 0;

  /** The same store, with its calls counted. */
  through(store: JobStore): JobStore {
    return wrapStore(store, () => (call) => {
      this.calls += 1;
      this.open += 1;
      return this.#counted(call);
    });
  }

  async #counted(call: () => Promise<unknown>): Promise<unknown> {
    try {
      return await call();
    } finally {
      this.open -= 1;
    }
  }
}

/** The store as one worker sees it. */
export interface Mortal {
  readonly store: JobStore;
  readonly isDead: boolean;
  /** The number of settled runs by outcome. */
  readonly ended: Readonly<Record<OutcomeName, number>>;
}

/** `diesAt` is called whenever a crash is possible. */
export function mortalStore(store: JobStore, diesAt: (point: CrashPoint) => boolean): Mortal {
  let isDead = false;
  const ended = noneEnded();
  const diesNow = (point: CrashPoint): boolean => {
    isDead ||= diesAt(point);
    return isDead;
  };
  const aroundOf =
    (verb: Verb): VerbWrapper =>
    (call, args) => {
      if (isDead) return silence();
      if ((verb === "settle" || verb === "record") && diesNow(verb)) return silence();
      if (verb === "claim" || verb === "startPrefetched") return begun(call(), diesNow);
      if (verb === "settle") return counted(call(), args[0], ended);
      return call();
    };
  const mortal = wrapStore(store, aroundOf, {
    watch: (listener) => store.watch((wakeUp) => void (isDead || listener(wakeUp))),
  });
  return {
    store: mortal,
    ended,
    get isDead() {
      return isDead;
    },
  };
}

function noneEnded(): Record<OutcomeName, number> {
  return {
    succeeded: 0,
    failed: 0,
    timed_out: 0,
    crashed: 0,
    cancelled: 0,
    interrupted: 0,
    snoozed: 0,
  };
}

/** The answer after a crash: none. */
function silence(): Promise<never> {
  return new Promise(() => {});
}

/** An answer with started jobs is the point to crash before a handler runs. */
async function begun(answer: Promise<any>, diesNow: (point: CrashPoint) => boolean) {
  const given = await answer;
  const jobs: readonly unknown[] = given.begun ?? given.jobs;
  return jobs.length > 0 && diesNow("start") ? silence() : given;
}

async function counted(
  answer: Promise<any>,
  items: Parameters<JobStore["settle"]>[0],
  ended: Record<OutcomeName, number>,
) {
  const given: Awaited<ReturnType<JobStore["settle"]>> = await answer;
  items.forEach(({ settlement }, index) => {
    if (given[index] === "settled") ended[settlement.outcome] += 1;
  });
  return given;
}
