import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { workerInfo } from "../../../test/support/factories.ts";
import { openSqlite } from "../../../test/support/stores.ts";
import { defaults } from "../../core/presets.ts";
import type { JobStore } from "../../store/store.ts";
import { Registration } from "./registration.ts";

describe("a registration", () => {
  test("that the store grants after the end leaves at once", async () => {
    await using world = await makeWorld();
    const join = world.holdUp("register");
    const begun = world.registration.begin();
    await world.registration.end();

    join.goOn();

    expect(await begun).toBe(false);
    expect(await world.store.workers(10)).toEqual([]);
  });

  test("that ends while its lease is in doubt does not come back", async () => {
    await using world = await makeWorld();
    await world.registration.begin();
    await setImmediate();
    const renew = world.holdUp("renew");

    world.registration.checkLease();
    const ended = world.registration.end();
    // Whatever does not wait for the answer has its chance to be faster.
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    renew.goOn();
    await ended;
    await world.clock.advance(60_000);

    expect(await world.store.workers(10)).toEqual([]);
    expect(world.said).toEqual([]);
  });
});

/** A worker's standing in a real store, each of whose answers can be held up. */
async function makeWorld() {
  const db = await openSqlite();
  const { store, clock } = db;
  const said: string[] = [];
  const log = (message: string): void => void said.push(message);
  const registration = new Registration({
    store,
    clock,
    logger: { debug: log, info: log, warn: log, error: log },
    info: workerInfo(),
    beatMs: 1_000,
    retryMs: 1_000,
    policy: defaults.retry,
    policies: {},
    onRenewal: () => {},
    onEnded: () => {},
    onLost: () => log("lost"),
    onRegained: () => log("regained"),
  });
  return {
    store,
    clock,
    said,
    registration,
    holdUp: (verb: "register" | "renew") => holdUp(store, verb),
    async [Symbol.asyncDispose](): Promise<void> {
      await registration.end();
      await db[Symbol.asyncDispose]();
    },
  };
}

/** The next call of this verb reaches the store only when the test says so. */
function holdUp(store: JobStore, verb: "register" | "renew"): { goOn(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const original = store[verb];
  Reflect.set(store, verb, async (...args: readonly unknown[]) => {
    Reflect.set(store, verb, original);
    await promise;
    return Reflect.apply(original, store, args);
  });
  return { goOn: resolve };
}
