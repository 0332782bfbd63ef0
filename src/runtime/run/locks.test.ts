import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { virtualClock } from "../../../test/support/virtual-clock.ts";
import { RunLocks } from "./locks.ts";
import { LockQueue } from "./lock-queue.ts";

/** What every run has. */
function common() {
  const signal = new AbortController().signal;
  return { clock: virtualClock(), signal, tenant: "acme", own: null, line: new LockQueue() };
}

/** Names of a run, and a store in which others have some. */
function makeNames(others: Set<string> = new Set(), own: string | null = null) {
  const parts = common();
  const { clock, line } = parts;
  const abort = new AbortController();
  const calls: (readonly string[])[] = [];
  const names = new RunLocks({
    ...parts,
    signal: abort.signal,
    own,
    async acquireLocks(asked) {
      calls.push(asked);
      return asked.filter((name) => !others.has(name));
    },
  });
  return { names, clock, calls, others, abort, line };
}

describe("exclusive names", () => {
  test("asked for in one turn go in one call, in chunks of a thousand", async () => {
    const { names, calls } = makeNames();
    const many = Array.from({ length: 1_500 }, (_, index) => `n${index}`);

    const [a, b] = await Promise.all([names.take("a"), names.takeSome(many)]);

    expect(a).toBe(true);
    expect(b).toEqual(many);
    expect(calls.map((asked) => asked.length)).toEqual([1_000, 501]);
  });

  test("had by a unit are not had by another until it leaves", async () => {
    const { names, calls } = makeNames();
    expect(await names.take("a")).toBe(true);
    const changed = names.changed().then(() => "changed");

    expect(await names.take("a")).toBe(false);
    expect(await Promise.race([changed, setImmediate("still")])).toBe("still");
    names.leave("a");

    expect(await Promise.race([changed, setImmediate("still")])).toBe("changed");
    expect(await names.take("a")).toBe(true);
    expect(calls).toHaveLength(2);
  });

  test("that others have are not asked for again before it is time", async () => {
    const { names, clock, calls, others } = makeNames(new Set(["a"]));
    expect(await names.take("a")).toBe(false);
    others.clear();
    const changed = names.changed().then(() => "changed");

    expect(await names.take("a")).toBe(false);
    expect(calls).toHaveLength(1);
    await clock.advance(50);

    expect(await Promise.race([changed, setImmediate("still")])).toBe("changed");
    expect(await names.take("a")).toBe(true);
  });

  test("of the job itself need no call, and are had by one unit at a time", async () => {
    const { names, calls } = makeNames(new Set(["own"]), "own");

    expect(await names.takeSome(["own"])).toEqual(["own"]);
    expect(await names.take("own")).toBe(false);
    names.leave("own");
    expect(await names.takeSome(["own", "other"])).toEqual(["own", "other"]);
    expect(calls).toEqual([["other"]]);
  });

  test("that the store has not answered for are given up when the run is to end", async () => {
    const abort = new AbortController();
    const names = new RunLocks({
      ...common(),
      signal: abort.signal,
      acquireLocks: () => new Promise(() => {}),
    });
    const [first, changed] = [names.take("a"), names.changed()];
    await setImmediate();
    const second = names.take("b");

    abort.abort();

    expect(await Promise.all([first, second])).toEqual([false, false]);
    await changed;
    expect(await names.take("c")).toBe(false);
  });

  test("leave no timer behind when the run is over", async () => {
    const { names, clock } = makeNames(new Set(["a"]));
    await names.take("a");
    const changes: string[] = [];
    names.close();
    void names.changed().then(() => changes.push("changed"));

    await clock.advance(5_000);

    expect(changes).toEqual([]);
  });

  test("that could not be asked for are told to whoever asked", async () => {
    const names = new RunLocks({
      ...common(),
      acquireLocks: () => Promise.reject(new Error("over")),
    });

    await expect(names.take("a")).rejects.toThrow("over");
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
  const giveUp = (names: RunLocks, name: string): void => {
    holders.delete(name);
    names.released(name);
    names.leave(name);
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
    await a.take("name");
    expect(await b.take("name")).toBe(false);
    const changed = b.changed();

    giveUp(a, "name");

    expect(await isChanged(changed)).toBe(true);
    expect(await b.take("name")).toBe(true);
  });

  test("is asked for once more by a run whose question was just being answered", async () => {
    const { line, ...parts } = common();
    const asked: (() => void)[] = [];
    const b = new RunLocks({
      ...parts,
      line,
      acquireLocks: () => new Promise((answer) => void asked.push(() => answer([]))),
    });
    const first = b.take("name");
    await turns();
    const changed = b.changed();

    line.call({ tenant: "acme", name: "name" });
    expect(await isChanged(changed)).toBe(false);
    asked[0]?.();

    expect(await first).toBe(false);
    expect(await isChanged(changed)).toBe(true);
    void b.take("name");
    await turns();
    expect(asked).toHaveLength(2);
  });

  test("is first had by the other units of the run that gives it up", async () => {
    const { a, b, giveUp } = makeTwo();
    await a.take("name");
    await b.take("name");
    const changed = b.changed();

    giveUp(a, "name");
    expect(await a.take("name")).toBe(true);
    expect(await isChanged(changed)).toBe(false);
    giveUp(a, "name");

    expect(await isChanged(changed)).toBe(true);
  });

  test("goes past a run that has ended before it could ask", async () => {
    const { a, b, giveUp, line } = makeTwo();
    await a.take("name");
    await b.take("name");
    const called: string[] = [];
    line.join({ tenant: "acme", name: "name" }, { call: (name) => void called.push(name) });

    giveUp(a, "name");
    await turns();
    expect(called).toEqual([]);
    b.close();

    expect(called).toEqual(["name"]);
  });

  test("is not waited for by a run that is over", async () => {
    const { a, b, line } = makeTwo();
    await a.take("name");
    await b.take("name");
    expect(line.isAwaited({ tenant: "acme", name: "name" })).toBe(true);

    b.close();

    expect(line.isAwaited({ tenant: "acme", name: "name" })).toBe(false);
  });

  test("is held no longer, while the others are until the run ends", async () => {
    const { a, giveUp } = makeTwo();
    await a.takeSome(["one", "two"]);

    giveUp(a, "one");

    expect(a.held).toEqual(["two"]);
  });
});
