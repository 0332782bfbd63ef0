import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { virtualClock } from "../../test/support/virtual-clock.ts";
import { ExclusiveNames } from "./names.ts";

/** Names of a run, and a store in which others have some. */
function makeNames(others: Set<string> = new Set(), own: string | null = null) {
  const clock = virtualClock();
  const abort = new AbortController();
  const calls: (readonly string[])[] = [];
  const names = new ExclusiveNames({
    clock,
    signal: abort.signal,
    own,
    async occupy(asked) {
      calls.push(asked);
      return asked.filter((name) => !others.has(name));
    },
  });
  return { names, clock, calls, others, abort };
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
    const names = new ExclusiveNames({
      clock: virtualClock(),
      signal: abort.signal,
      own: null,
      occupy: () => new Promise(() => {}),
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
    const names = new ExclusiveNames({
      clock: virtualClock(),
      signal: new AbortController().signal,
      own: null,
      occupy: () => Promise.reject(new Error("over")),
    });

    await expect(names.take("a")).rejects.toThrow("over");
  });
});
