import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { virtualClock } from "../../../test/support/virtual-clock.ts";
import { RunLocks } from "./locks.ts";
import { LockQueue } from "./lock-queue.ts";

/** What every run has. */
function common() {
  const signal = new AbortController().signal;
  return { clock: virtualClock(), signal, tenant: "acme", ownKey: null, queue: new LockQueue() };
}

/** The locks of a run, and a store in which other runs hold some. */
function makeLocks(others: Set<string> = new Set(), ownKey: string | null = null) {
  const parts = common();
  const { clock, queue } = parts;
  const abort = new AbortController();
  const calls: (readonly string[])[] = [];
  const locks = new RunLocks({
    ...parts,
    signal: abort.signal,
    ownKey,
    async acquireLocks(asked) {
      calls.push(asked);
      return asked.filter((name) => !others.has(name));
    },
  });
  return { locks, clock, calls, others, abort, queue };
}

describe("locks of a run", () => {
  test("asked for in one turn go in one call, in chunks of a thousand", async () => {
    const { locks, calls } = makeLocks();
    const many = Array.from({ length: 1_500 }, (_, index) => `n${index}`);

    const [a, b] = await Promise.all([locks.acquire("a"), locks.acquireSome(many)]);

    expect(a).toBe(true);
    expect(b).toEqual(many);
    expect(calls.map((asked) => asked.length)).toEqual([1_000, 501]);
  });

  test("had by a unit are not had by another until it leaves", async () => {
    const { locks, calls } = makeLocks();
    expect(await locks.acquire("a")).toBe(true);
    const changed = locks.changed().then(() => "changed");

    expect(await locks.acquire("a")).toBe(false);
    expect(await Promise.race([changed, setImmediate("still")])).toBe("still");
    locks.release("a");

    expect(await Promise.race([changed, setImmediate("still")])).toBe("changed");
    expect(await locks.acquire("a")).toBe(true);
    expect(calls).toHaveLength(2);
  });

  test("that others have are not asked for again before it is time", async () => {
    const { locks, clock, calls, others } = makeLocks(new Set(["a"]));
    expect(await locks.acquire("a")).toBe(false);
    others.clear();
    const changed = locks.changed().then(() => "changed");

    expect(await locks.acquire("a")).toBe(false);
    expect(calls).toHaveLength(1);
    await clock.advance(50);

    expect(await Promise.race([changed, setImmediate("still")])).toBe("changed");
    expect(await locks.acquire("a")).toBe(true);
  });

  test("of the job itself need no call, and are had by one unit at a time", async () => {
    const { locks, calls } = makeLocks(new Set(["own"]), "own");

    expect(await locks.acquireSome(["own"])).toEqual(["own"]);
    expect(await locks.acquire("own")).toBe(false);
    locks.release("own");
    expect(await locks.acquireSome(["own", "other"])).toEqual(["own", "other"]);
    expect(calls).toEqual([["other"]]);
  });

  test("that the store has not answered for are given up when the run is to end", async () => {
    const abort = new AbortController();
    const locks = new RunLocks({
      ...common(),
      signal: abort.signal,
      acquireLocks: () => new Promise(() => {}),
    });
    const [first, changed] = [locks.acquire("a"), locks.changed()];
    await setImmediate();
    const second = locks.acquire("b");

    abort.abort();

    expect(await Promise.all([first, second])).toEqual([false, false]);
    await changed;
    expect(await locks.acquire("c")).toBe(false);
  });

  test("leave no timer behind when the run is over", async () => {
    const { locks, clock } = makeLocks(new Set(["a"]));
    await locks.acquire("a");
    const changes: string[] = [];
    locks.close();
    void locks.changed().then(() => changes.push("changed"));

    await clock.advance(5_000);

    expect(changes).toEqual([]);
  });

  test("that could not be asked for are told to the unit that asked", async () => {
    const locks = new RunLocks({
      ...common(),
      acquireLocks: () => Promise.reject(new Error("over")),
    });

    await expect(locks.acquire("a")).rejects.toThrow("over");
  });
});

/** Two runs of one worker, and a store in which a name is had by one of them. */
function makeTwo() {
  const parts = common();
  const holders = new Map<string, string>();
  const make = (run: string) =>
    new RunLocks({
      ...parts,
      async acquireLocks(asked) {
        const had = asked.filter((name) => (holders.get(name) ?? run) === run);
        for (const name of had) holders.set(name, run);
        return had;
      },
    });
  /** A unit of a run has ended, and the store has heard of it. */
  const giveUp = (locks: RunLocks, name: string): void => {
    holders.delete(name);
    locks.onReleased(name);
    locks.release(name);
  };
  return { ...parts, holders, a: make("a"), b: make("b"), giveUp };
}

/** Whether it is worth to try again by now. */
function isChanged(changed: Promise<void>): Promise<boolean> {
  return Promise.race([changed.then(() => true), turns().then(() => false)]);
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
}

describe("an exclusive name that a run gives up", () => {
  test("is asked for at once by the run of the same worker that waits for it", async () => {
    const { a, b, giveUp } = makeTwo();
    await a.acquire("name");
    expect(await b.acquire("name")).toBe(false);
    const changed = b.changed();

    giveUp(a, "name");

    expect(await isChanged(changed)).toBe(true);
    expect(await b.acquire("name")).toBe(true);
  });

  test("is asked for once more by a run whose question was just being answered", async () => {
    const { queue, ...parts } = common();
    const asked: (() => void)[] = [];
    const b = new RunLocks({
      ...parts,
      queue: queue,
      acquireLocks: () => new Promise((answer) => void asked.push(() => answer([]))),
    });
    const first = b.acquire("name");
    await turns();
    const changed = b.changed();

    queue.wakeFirst({ tenant: "acme", name: "name" });
    expect(await isChanged(changed)).toBe(false);
    asked[0]?.();

    expect(await first).toBe(false);
    expect(await isChanged(changed)).toBe(true);
    void b.acquire("name");
    await turns();
    expect(asked).toHaveLength(2);
  });

  test("is first had by the other units of the run that gives it up", async () => {
    const { a, b, giveUp } = makeTwo();
    await a.acquire("name");
    await b.acquire("name");
    const changed = b.changed();

    giveUp(a, "name");
    expect(await a.acquire("name")).toBe(true);
    expect(await isChanged(changed)).toBe(false);
    giveUp(a, "name");

    expect(await isChanged(changed)).toBe(true);
  });

  test("goes past a run that has ended before it could ask", async () => {
    const { a, b, giveUp, queue } = makeTwo();
    await a.acquire("name");
    await b.acquire("name");
    const called: string[] = [];
    queue.wait({ tenant: "acme", name: "name" }, { lockFreed: (name) => void called.push(name) });

    giveUp(a, "name");
    await turns();
    expect(called).toEqual([]);
    b.close();

    expect(called).toEqual(["name"]);
  });

  test("is not waited for by a run that is over", async () => {
    const { a, b, queue } = makeTwo();
    await a.acquire("name");
    await b.acquire("name");
    expect(queue.hasWaiters({ tenant: "acme", name: "name" })).toBe(true);

    b.close();

    expect(queue.hasWaiters({ tenant: "acme", name: "name" })).toBe(false);
  });

  test("is held no longer, while the others are until the run ends", async () => {
    const { a, giveUp } = makeTwo();
    await a.acquireSome(["one", "two"]);

    giveUp(a, "one");

    expect(a.held).toEqual(["two"]);
  });
});
