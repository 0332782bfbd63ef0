import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { completed, failedWith } from "../../test/support/factories.ts";
import { virtualClock } from "../../test/support/virtual-clock.ts";
import type { SettleAnswer, SettleItem } from "../store/store.ts";
import { Settler } from "./settler.ts";

const lease = { number: 7, secret: "s" };
const item = (key: number): SettleItem => ({ lease, key, n: 1, settlement: completed() });

function makeSettler(answer: (items: readonly SettleItem[]) => Promise<readonly SettleAnswer[]>) {
  const clock = virtualClock();
  const batches: (readonly SettleItem[])[] = [];
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const settler = new Settler({
    store: {
      settle(items) {
        batches.push(items);
        return answer(items);
      },
    },
    clock,
    logger: { debug: log, info: log, warn: log, error: log },
  });
  return { clock, batches, logged, settler };
}

describe("a settler", () => {
  test("lets runs that end together travel together, and later ones next", async () => {
    const { settler, batches } = makeSettler((items) =>
      setImmediate()
        .then(() => setImmediate())
        .then(() => items.map(() => "settled" as const)),
    );

    settler.add(item(1));
    settler.add(item(2));
    while (batches.length === 0) await setImmediate();
    settler.add(item(3));
    settler.add(item(4));
    await settler.drained();

    expect(batches.map((batch) => batch.map(({ key }) => key))).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test("tries again until the store has taken it", async () => {
    let calls = 0;
    const { clock, settler, batches } = makeSettler((items) => {
      calls += 1;
      if (calls < 3) return Promise.reject(new Error("the disk is full"));
      return Promise.resolve(items.map(() => "settled" as const));
    });

    settler.add(item(1));
    for (let round = 0; round < 5; round += 1) {
      await setImmediate();
      await clock.advance(200);
    }
    await settler.drained();

    expect(batches.map((batch) => batch.map(({ key }) => key))).toEqual([[1], [1], [1]]);
  });

  test("gives up after a minute of refusals, and says so", async () => {
    const { clock, batches, logged, settler } = makeSettler(() => Promise.reject(new Error("no")));
    settler.add(item(1));
    while (batches.length === 0) await setImmediate();

    await clock.advance(90_000);
    await settler.drained();

    expect(batches).toHaveLength(300);
    expect(logged.at(-1)).toContain("a rescue will find them");
  });

  test("records that a run ended even if the store refuses what it ended with", async () => {
    const { settler, batches } = makeSettler((items) =>
      Promise.resolve(
        items.map(({ settlement }) => (settlement.to === "completed" ? "refused" : "settled")),
      ),
    );

    settler.add(item(1));
    await settler.drained();

    expect(batches).toHaveLength(2);
    expect(batches[1]?.[0]).toMatchObject({
      key: 1,
      settlement: { to: "failed", fault: { class: "non_retryable" } },
    });
  });

  test("asks only twice when the store refuses that, too", async () => {
    const { settler, batches } = makeSettler((items) => {
      if (batches.length > 10) throw new Error("endless");
      return Promise.resolve(items.map(() => "refused" as const));
    });

    settler.add({ ...item(1), settlement: failedWith() });
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();

    expect(batches).toHaveLength(2);
  });

  test("says so when a run was no longer ours", async () => {
    const { settler, logged } = makeSettler((items) =>
      Promise.resolve(items.map(() => "stale" as const)),
    );

    settler.add(item(1));
    await settler.drained();

    expect(logged).toEqual([expect.stringContaining("no longer ours")]);
  });
});
