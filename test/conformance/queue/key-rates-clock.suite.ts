/** Rates of keys that were used while the clock was ahead, on SQLite that of the host. */
import { describe, expect, test } from "vitest";
import { completed } from "../../support/factories.ts";
import { add, claimable, settleAll, take } from "../../support/steps.ts";
import type { OpenStore, TestStore } from "../../support/stores.ts";

const DAY = 86_400_000;
const KEY = { kind: "key", name: "box-7", tenant: "default" } as const;
const KEYED = { concurrencyKey: "box-7" } as const;
const ONCE = { concurrency: null, rate: { count: 1, perMs: 1_000, burst: 1 } } as const;
const SLOW = { concurrency: null, rate: { count: 1, perMs: 3_600_000, burst: 1 } } as const;

/** A job of the key takes its token while the clock is a day ahead. Answers the next job. */
async function spentAhead({ store, clock }: TestStore): Promise<string> {
  await clock.advance(DAY);
  const [, next] = await add(store, KEYED, KEYED);
  await settleAll(store, await take(store), completed());
  return next;
}

export function keyRatesClockSetBackSuite(open: OpenStore): void {
  describe("a key without a token, after the clock was ahead", () => {
    test("has its tokens when the clock has gone back", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setLimit(KEY, ONCE, null);
      const next = await spentAhead(db);

      clock.setBack(DAY);

      expect(await store.limits()).toMatchObject([{ nextTokenMs: 0 }]);
      expect(await claimable(store)).toEqual([next]);
    });

    test("is found by a poll, and its lock is released", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setLimit(KEY, ONCE, null);
      const next = await spentAhead(db);
      expect(await claimable(store)).toEqual([]);
      await store.hold(10);

      clock.setBack(DAY);

      expect((await store.promote(10)).waiting).toMatchObject({ released: true });
      await store.release(10);
      expect((await store.promote(10)).waiting).toMatchObject({ released: false });
      expect(await claimable(store)).toEqual([next]);
    });

    test("waits as long as one token takes if the clock has gone back by less", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setLimit(KEY, SLOW, null);
      const next = await spentAhead(db);
      clock.setBack(60_000);
      expect(await claimable(store)).toEqual([]);
      expect((await store.promote(10)).waiting).toMatchObject({ released: false });
      await store.release(10);
      expect(await claimable(store)).toEqual([]);

      await clock.advance(3_600_000 + 60_000);

      await store.release(10);
      expect(await claimable(store)).toEqual([next]);
    });
  });
}
