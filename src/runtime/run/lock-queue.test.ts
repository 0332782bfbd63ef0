import { describe, expect, test } from "vitest";
import { LockQueue, type Waiter } from "./lock-queue.ts";

const NAME = { tenant: "acme", name: "docs/main" };

/** Runs that write down when they are called. */
function makeWaiters() {
  const called: string[] = [];
  const make = (run: string): Waiter => ({ call: (name) => void called.push(`${run} ${name}`) });
  return { line: new LockQueue(), called, a: make("a"), b: make("b") };
}

describe("a line of runs that wait for a name", () => {
  test("calls one at a time, in the order in which they came", () => {
    const { line, called, a, b } = makeWaiters();
    line.join(NAME, a);
    line.join(NAME, b);
    line.join(NAME, a);

    line.call(NAME);
    expect(called).toEqual(["a docs/main"]);
    line.call(NAME);
    line.call(NAME);

    expect(called).toEqual(["a docs/main", "b docs/main"]);
    expect(line.isAwaited(NAME)).toBe(false);
  });

  test("calls nobody who has left, and nobody for the name of another tenant", () => {
    const { line, called, a, b } = makeWaiters();
    line.join(NAME, a);
    line.join(NAME, b);

    line.leave(NAME, a);
    line.call({ ...NAME, tenant: "globex" });
    line.call({ ...NAME, name: "docs/v1" });
    expect(called).toEqual([]);
    line.call(NAME);

    expect(called).toEqual(["b docs/main"]);
  });

  test("calls for what a run had when the store has heard of its end, and once", () => {
    const { line, called, a, b } = makeWaiters();
    const run = { key: 7, n: 1 };
    const other = { ...NAME, name: "docs/v1" };
    line.join(NAME, a);
    line.join(NAME, b);
    line.join(other, b);

    line.ending(run, [NAME, other]);
    line.ended({ key: 7, n: 2 });
    expect(called).toEqual([]);
    line.ended(run);
    line.ended(run);

    expect(called).toEqual(["a docs/main", "b docs/v1"]);
  });
});
