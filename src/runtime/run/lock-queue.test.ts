import { describe, expect, test } from "vitest";
import { LockQueue, type Waiter } from "./lock-queue.ts";

const NAME = { tenant: "acme", name: "docs/main" };

/** Runs that write down when they are woken. */
function makeWaiters() {
  const woken: string[] = [];
  const make = (run: string): Waiter => ({
    lockFreed: (name) => void woken.push(`${run} ${name}`),
  });
  return { queue: new LockQueue(), woken, a: make("a"), b: make("b") };
}

describe("the queue of a lock", () => {
  test("wakes one waiter at a time, in order of arrival", () => {
    const { queue, woken, a, b } = makeWaiters();
    queue.wait(NAME, a);
    queue.wait(NAME, b);
    queue.wait(NAME, a);

    queue.wakeFirst(NAME);
    expect(woken).toEqual(["a docs/main"]);
    queue.wakeFirst(NAME);
    queue.wakeFirst(NAME);

    expect(woken).toEqual(["a docs/main", "b docs/main"]);
    expect(queue.hasWaiters(NAME)).toBe(false);
  });

  test("wakes no waiter that was removed, and none for the lock of another tenant", () => {
    const { queue, woken, a, b } = makeWaiters();
    queue.wait(NAME, a);
    queue.wait(NAME, b);

    queue.remove(NAME, a);
    queue.wakeFirst({ ...NAME, tenant: "globex" });
    queue.wakeFirst({ ...NAME, name: "docs/v1" });
    expect(woken).toEqual([]);
    queue.wakeFirst(NAME);

    expect(woken).toEqual(["b docs/main"]);
  });

  test("wakes waiters when the store has settled the run that held the lock, and once", () => {
    const { queue, woken, a, b } = makeWaiters();
    const run = { key: 7, n: 1 };
    const other = { ...NAME, name: "docs/v1" };
    queue.wait(NAME, a);
    queue.wait(NAME, b);
    queue.wait(other, b);

    queue.runEnding(run, [NAME, other]);
    queue.runSettled({ key: 7, n: 2 });
    expect(woken).toEqual([]);
    queue.runSettled(run);
    queue.runSettled(run);

    expect(woken).toEqual(["a docs/main", "b docs/v1"]);
  });
});
