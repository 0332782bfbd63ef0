import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { workerInfo } from "../../../test/support/factories.ts";
import { openSqlite } from "../../../test/support/stores.ts";
import { defaults } from "../../core/presets.ts";
import type { JobStore } from "../../store/store.ts";
import { Registration } from "./registration.ts";

const { leaseMs: LEASE_MS } = workerInfo();

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
    // Code that does not wait for the answer has its chance to be faster.
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    renew.goOn();
    await ended;
    await world.clock.advance(60_000);

    expect(await world.store.workers(10)).toEqual([]);
    expect(world.said).toEqual([]);
  });
});

describe("a lease that cannot be renewed", () => {
  test("expires, although the store never answers, and is told once", async () => {
    await using world = await makeWorld();
    await world.registration.begin();
    await setImmediate();
    world.holdUp("renew");

    await world.clock.advance(LEASE_MS - 1_000);
    expect(world.registration.holdsLease).toBe(true);
    await world.clock.advance(10 * LEASE_MS);

    expect(world.registration.holdsLease).toBe(false);
    expect(world.registration.isRegistered).toBe(false);
    expect(world.said).toEqual([
      "expired",
      expect.stringMatching(/^lease expired: the store has not answered for 29 s; 0 run/),
    ]);
  });

  test("expires a lease after its last renewal was sent, not after the answer", async () => {
    await using world = await makeWorld();
    await world.registration.begin();
    await setImmediate();
    const slow = world.holdUp("renew");
    // The heartbeat of the first second is answered twenty seconds later, and the next one never.
    await world.clock.advance(21_000);
    slow.goOn();
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    world.holdUp("renew");

    await world.clock.advance(LEASE_MS - 20_000 - 1);
    expect(world.registration.holdsLease).toBe(true);
    await world.clock.advance(1);

    expect(world.registration.holdsLease).toBe(false);
  });

  test("holds again after the first renewal that succeeds", async () => {
    await using world = await makeWorld();
    await world.registration.begin();
    await setImmediate();
    const renew = world.holdUp("renew");
    await world.clock.advance(2 * LEASE_MS);

    renew.goOn();
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    // The answer belongs to a heartbeat that was sent more than a lease ago.
    expect(world.registration.isRegistered).toBe(false);
    await world.clock.advance(1_000);

    expect(world.registration.isRegistered).toBe(true);
    expect(world.said.slice(2)).toEqual([
      expect.stringMatching(/^lease renewed .* after its expiry/),
      "regained",
    ]);
  });

  test("names the error of the store", async () => {
    await using world = await makeWorld();
    await world.registration.begin();
    await setImmediate();
    const repair = world.fail("renew");
    await world.clock.advance(LEASE_MS);
    repair();
    expect(world.said).toContainEqual(
      expect.stringContaining("lease expired: the store refuses every heartbeat"),
    );
  });
});

describe("the steady span of a registration", () => {
  test("grows with every renewal, and ends when one fails", async () => {
    await using world = await makeWorld();
    await world.registration.begin();
    const from = world.clock.monotonic();
    await setImmediate();
    await world.clock.advance(10_000);
    expect(world.registration.steadySpan).toEqual({ from, until: from + 10_000 });

    const repair = world.fail("renew");
    await world.clock.advance(1_000);
    expect(world.registration.steadySpan).toBeNull();
    repair();
    await world.clock.advance(1_000);

    expect(world.registration.steadySpan).toEqual({ from: from + 12_000, until: from + 12_000 });
  });
});

/** A worker's standing in a real store, each of whose answers can be held up. */
async function makeWorld() {
  const db = await openSqlite();
  const { store, clock } = db;
  const said: string[] = [];
  const held: { goOn(): void }[] = [];
  const log = (message: string): void => void said.push(message);
  const registration = new Registration({
    store,
    clock,
    logger: { debug: log, info: log, warn: log, error: log },
    info: workerInfo(),
    isAskedQuiet: () => false,
    declarations: [],
    beatMs: 1_000,
    retryMs: 1_000,
    policy: defaults.retry,
    policies: {},
    onRenewal: () => {},
    onEnded: () => {},
    onLost: () => log("lost"),
    onExpired: () => {
      log("expired");
      return 0;
    },
    onRegained: () => log("regained"),
  });
  return {
    store,
    clock,
    said,
    registration,
    holdUp(verb: "register" | "renew"): { goOn(): void } {
      const call = holdUp(store, verb);
      held.push(call);
      return call;
    },
    /** Every call of this verb fails. Returns how to repair it. */
    fail(verb: "renew"): () => void {
      const original = store[verb];
      Reflect.set(store, verb, () => Promise.reject(new Error("planted: the disk is full")));
      return () => void Reflect.set(store, verb, original);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const call of held) call.goOn();
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
