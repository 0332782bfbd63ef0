import { describe, expect, test } from "vitest";
import { completed, failedWith, retention } from "../../support/factories.ts";
import { add, runOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LONG = retention({
  auditMs: 400 * DAY_MS,
  deadLetterMs: 400 * DAY_MS,
  idempotencyMs: 400 * DAY_MS,
});
const LONGEST = retention({
  auditMs: 3_650 * DAY_MS,
  deadLetterMs: 3_650 * DAY_MS,
  idempotencyMs: 3_650 * DAY_MS,
});
const SHORT = retention({ auditMs: 0, deadLetterMs: 0, idempotencyMs: 0 });
const KEY = { key: "order-1", onConflict: "return-existing" } as const;
const NOTHING = { audits: 0, deadLetters: 0, idempotencyKeys: 0 };

export function declaredPeriodsSuite(open: OpenStore): void {
  describe("prune by workers with different periods", () => {
    test("keeps audit entries, dead letters and keys for the longest of them", async () => {
      await using db = await open();
      const { store, clock } = db;
      await addRecords(db);
      await store.prune(LONG, 100);
      await clock.advance(20 * DAY_MS);

      expect(await store.prune(SHORT, 100)).toMatchObject({ ...NOTHING, jobs: 2 });
      expect(await store.prune(SHORT, 100)).toMatchObject(NOTHING);
      expect(await store.audits({}, { limit: 10 })).toHaveLength(2);
      expect(await store.deadLetters({}, { limit: 10 })).toHaveLength(1);
    });

    test("keeps them for as long as a worker repeats the longest period", async () => {
      await using db = await open();
      const { store, clock } = db;
      await addRecords(db);
      for (let month = 0; month < 3; month += 1) {
        await store.prune(LONG, 100);
        await clock.advance(29 * DAY_MS);
        expect(await store.prune(SHORT, 100)).toMatchObject(NOTHING);
      }
    });

    test("goes by the shorter period 30 days after the longer one was declared last", async () => {
      await using db = await open();
      const { store, clock } = db;
      await addRecords(db);
      await store.prune(LONG, 100);
      await clock.advance(30 * DAY_MS - HOUR_MS);
      expect(await store.prune(SHORT, 100)).toMatchObject(NOTHING);
      await clock.advance(2 * HOUR_MS);

      expect(await store.prune(SHORT, 100)).toMatchObject({ audits: 2, deadLetters: 1 });
    });

    test("goes by the second longest period while a worker repeats that one", async () => {
      await using db = await open();
      const { store, clock } = db;
      await addRecords(db);
      await store.prune(LONGEST, 100);
      await clock.advance(29 * DAY_MS);
      await store.prune(LONG, 100);
      await store.prune(SHORT, 100);
      await clock.advance(2 * DAY_MS);

      expect(await store.prune(SHORT, 100)).toMatchObject(NOTHING);
      await clock.advance(29 * DAY_MS);
      expect(await store.prune(SHORT, 100)).toMatchObject({ audits: 2, deadLetters: 1 });
    });

    test("uses the longest period for the keys of jobs that a hook has archived", async () => {
      await using db = await open();
      const { store, clock } = db;
      await addRecords(db);
      await store.prune(LONG, 100);
      await clock.advance(2 * HOUR_MS);
      const { jobs } = await store.expired(SHORT, { limit: 10, from: null, fresh: false });

      expect(
        await store.remove(
          jobs.map(({ key }) => key),
          SHORT,
        ),
      ).toBe(2);
      await clock.advance(DAY_MS);
      expect(await store.prune(SHORT, 100)).toMatchObject(NOTHING);
    });
  });
}

/** Two sealed entries of the audit, a dead letter, and an ended job with an idempotency key. */
async function addRecords({ store }: Awaited<ReturnType<OpenStore>>): Promise<void> {
  const why = { by: "ada", reason: "a check" };
  await store.pause({ kind: "tenant", name: "acme" }, why);
  await store.resume({ kind: "tenant", name: "acme" }, why);
  await store.sealAudit(10);
  await add(store, {}, { idempotency: KEY });
  await runOne(store, failedWith());
  await runOne(store, completed());
}
