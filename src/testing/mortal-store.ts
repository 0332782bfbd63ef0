/**
 * The store as one worker sees it, until that worker dies: from then on nothing it asks is done or
 * answered, as if its process had been killed. It also counts, so that a test knows when all is
 * still.
 */
import type { OutcomeName } from "../core/outcome.ts";
import type { JobStore } from "../store/store.ts";
import type { Verb } from "../store/verbs.ts";
import { wrapStore, type VerbWrapper } from "../store/wrap-store.ts";

/**
 * `start`: its jobs have begun in the store, and no handler has run. `record`: a handler has told
 * something, such as progress or the end of a phase or unit, and it was not stored. `settle`: a
 * handler has ended, and nobody was told.
 */
export type CrashPoint = "start" | "record" | "settle";

/** What happens at the store, seen by the whole test. */
export class Traffic {
  /** Calls made so far, and those without an answer yet. */
  calls = 0;
  open = 0;

  /** The store, counted. */
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

/** One worker's view of the store. */
export interface Mortal {
  readonly store: JobStore;
  readonly isDead: boolean;
  /** How its runs have ended so far. */
  readonly ended: Readonly<Record<OutcomeName, number>>;
}

/** `diesAt` is asked whenever a crash is possible. */
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

/** What the dead hear. */
function silence(): Promise<never> {
  return new Promise(() => {});
}

/** An answer that brings jobs that have begun is the moment to die before any handler runs. */
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
