/** Which dead letters there are, and how many. */
import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { DeadLetterQuery } from "../../../src/store/types/letters.ts";
import { failedWith, fault } from "../../support/factories.ts";
import { add, addDead, settleAll, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import { virtualClock } from "../../support/virtual-clock.ts";

const HOUR_MS = 3_600_000;
const ALL = { rows: 100, groups: 100 };
/** The clock of every store starts here. */
const CREATED_AT = virtualClock().now();

export function letterCountsSuite(open: OpenStore): void {
  describe("countLetters", () => {
    test.each<[DeadLetterQuery, readonly string[]]>([
      [{}, ["invoice", "email", "order"]],
      [{ category: "billing" }, ["invoice", "order"]],
      [{ category: "never" }, []],
      [{ correlationId: "trace" }, ["email"]],
      [{ errorClass: "transient" }, ["email"]],
      [{ errorClass: "non_retryable" }, ["invoice", "order"]],
      [{ assignedTo: "bob" }, ["order"]],
      [{ cause: "0123456789abcdef" }, []],
      [{ createdFrom: CREATED_AT + HOUR_MS }, ["invoice", "email"]],
      [{ createdBefore: CREATED_AT + HOUR_MS }, ["order"]],
      [{ createdFrom: CREATED_AT + HOUR_MS, category: "billing" }, ["invoice"]],
      [{ type: "order", category: "billing", status: "pending_review" }, ["order"]],
      [{ type: "never" }, []],
    ])("finds by %o (003-24)", async (filter, types) => {
      await using db = await open();
      const { store } = db;
      await threeLetters(db);

      const found = await store.deadLetters(filter, { limit: 10 });
      expect(found.map(({ type }) => type)).toEqual(types);
      expect(await store.countLetters(filter, 10)).toBe(types.length);
    });

    test("finds by the cause of a letter", async () => {
      await using db = await open();
      const { store } = db;
      await threeLetters(db);
      const [letter] = await store.deadLetters({ type: "email" }, { limit: 1 });

      const cause = letter?.cause ?? "";
      expect(await store.deadLetters({ cause }, { limit: 10 })).toMatchObject([{ type: "email" }]);
      expect(await store.countLetters({ cause }, 10)).toBe(1);
    });

    test("counts no more than asked", async () => {
      await using db = await open();
      const { store } = db;
      await addDead(store, {}, {}, {});

      expect(await store.countLetters({}, 2)).toBe(2);
      expect(await store.countLetters({}, 0)).toBe(0);
    });
  });

  describe("letterGroups", () => {
    test("counts by status, type, category and class of error", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [order] = await threeLetters(db);
      await store.review(order, { status: "acknowledged", by: "ada", notes: null });
      await clock.advance(22.5 * HOUR_MS);

      const at = CREATED_AT;
      const { groups, hasMore } = await store.letterGroups(ALL);
      expect(hasMore).toBe(false);
      expect(groups.toSorted((one, other) => (one.type < other.type ? -1 : 1))).toEqual([
        {
          status: "pending_review",
          type: "email",
          category: null,
          errorClass: "transient",
          letters: 1,
          oldestAt: at + HOUR_MS,
          lastDay: 1,
        },
        {
          status: "pending_review",
          type: "invoice",
          category: "billing",
          errorClass: "non_retryable",
          letters: 1,
          oldestAt: at + 2 * HOUR_MS,
          lastDay: 1,
        },
        {
          status: "acknowledged",
          type: "order",
          category: "billing",
          errorClass: "non_retryable",
          letters: 1,
          oldestAt: at,
          lastDay: 0,
        },
      ]);
    });

    test("adds letters of one group up, the largest group first", async () => {
      await using db = await open();
      const { store, clock } = db;
      await addDead(store, { type: "email" }, { type: "order" });
      await clock.advance(HOUR_MS);
      await addDead(store, { type: "order" });

      expect(await store.letterGroups({ rows: 100, groups: 1 })).toMatchObject({
        groups: [{ type: "order", letters: 2, oldestAt: CREATED_AT }],
        hasMore: true,
      });
    });

    test("reads the newest letters, and no more than asked", async () => {
      await using db = await open();
      const { store } = db;
      await threeLetters(db);

      const { groups } = await store.letterGroups({ rows: 1, groups: 10 });
      expect(groups).toMatchObject([{ type: "invoice", letters: 1 }]);
    });

    test("of one tenant", async () => {
      await using db = await open();
      const { store } = db;
      await addDead(store, { tenant: "acme", type: "email" }, { tenant: "brick", type: "order" });

      expect((await store.letterGroups(ALL, "acme")).groups).toMatchObject([{ type: "email" }]);
      expect(await store.letterGroups(ALL, "never")).toEqual({ groups: [], hasMore: false });
    });
  });
}

/** Three letters, an hour apart. */
async function threeLetters({
  store,
  clock,
}: {
  store: JobStore;
  clock: { advance: (ms: number) => Promise<void> };
}): Promise<readonly [JobId, JobId, JobId]> {
  const dead = async (job: object, errorClass: "transient" | "non_retryable"): Promise<JobId> => {
    const [id] = await add(store, job);
    await settleAll(store, await takeOne(store), failedWith(fault({ class: errorClass })));
    return id;
  };
  const order = await dead({ type: "order", category: "billing" }, "non_retryable");
  await store.annotate(order, { act: "assigned", by: "ada", to: "bob", notes: null });
  await clock.advance(HOUR_MS);
  const email = await dead({ type: "email", correlationId: "trace" }, "transient");
  await clock.advance(HOUR_MS);
  const invoice = await dead({ type: "invoice", category: "billing" }, "non_retryable");
  return [order, email, invoice];
}
