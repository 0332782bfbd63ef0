/** A test mill on a store whose answers can be held back. Time is virtual, the store is real. */
import { setImmediate } from "node:timers/promises";
import { durationMs } from "../../src/core/duration.ts";
import { defaults } from "../../src/core/presets.ts";
import { MortalMill } from "../../src/testing/mortal-mill.ts";
import { seededDice } from "../support/seeded-dice.ts";
import { openSqlite } from "../support/stores.ts";
import { latch, replaceVerb, type Latch, type RuntimeTest } from "./support.ts";

const TURNS = 50;

export interface LateStoreTest
  extends
    Pick<RuntimeTest, "mill" | "store" | "outcomes" | "settled" | "advance" | "crashAt">,
    AsyncDisposable {
  /** The answers of all calls of this verb come when the latch opens, or are lost then. */
  readonly holdAnswers: (verb: "renew" | "claim" | "startPrefetched", fate?: "lost") => Latch;
}

/** `settled` waits for turns of the event loop, not for the answers of the store. */
export async function openLateStore(): Promise<LateStoreTest> {
  const db = await openSqlite();
  const { store, clock } = db;
  const silent = (): void => {};
  const logger = { debug: silent, info: silent, warn: silent, error: silent };
  const dice = seededDice(1);
  const mill = new MortalMill({ store, clock, dice, logger, tenant: "default", preset: defaults });
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < TURNS; turn += 1) await setImmediate();
  };
  const held: Latch[] = [];
  return {
    mill,
    store,
    settled,
    advance: (duration) => clock.move(durationMs(duration, "duration"), settled),
    crashAt: (point) => mill.crashAt(point),
    outcomes: async ({ id }) => (await mill.jobs.attempts(id)).map(({ outcome }) => outcome),
    holdAnswers(verb, fate) {
      const answered = latch();
      held.push(answered);
      const call: (...args: any[]) => Promise<unknown> = store[verb].bind(store);
      const restore = replaceVerb(store, verb, async (...args: unknown[]) => {
        const answer = await call(...args);
        await answered.passed;
        if (fate === "lost") throw new Error("planted: the answer was lost");
        return answer;
      });
      void answered.passed.then(restore);
      return answered;
    },
    async [Symbol.asyncDispose]() {
      for (const answered of held) answered.open();
      await settled();
      const closed = mill.close(0).catch(() => {});
      await clock.move(20_000, settled);
      await closed;
      await db[Symbol.asyncDispose]();
    },
  };
}
