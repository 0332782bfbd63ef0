import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import { failedWith, fault, jobId, newJob, retention } from "../../support/factories.ts";
import { add, claimable, recordOf, settleAll, take } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const [RED, BLUE] = ["00000000000000aa", "00000000000000bb"];
const HOUR = 3_600_000;
const HOURS = 24;
const SNOOZED = { kind: "snoozed", by: "ada", notes: null } as const;
const SEEN = { kind: "acknowledged", by: "ada", notes: "known" } as const;

/** Jobs that fail with this cause. */
async function fail(
  store: JobStore,
  cause: string,
  ...jobs: readonly Partial<NewJob>[]
): Promise<readonly JobId[]> {
  const ids = await add(store, ...jobs);
  await settleAll(store, await take(store), failedWith({ ...fault(), cause }));
  return ids;
}

function successor(id: JobId, overrides: Partial<NewJob> = {}): NewJob & { retryOf: JobId } {
  return { ...newJob(overrides), retryOf: id };
}

/** Decisions that retention removes. */
function decisionsSuite(open: OpenStore): void {
  const rules = retention({ deadLetterMs: 10 * HOUR });

  describe("decideGroup", () => {
    test("is forgotten with old letters, if none of the cause is open", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await fail(store, RED, {});
      await store.decideGroup(RED, {}, SEEN);
      await store.review(id!, { status: "discarded", by: "ada", notes: null });
      await clock.advance(10 * HOUR - 1);
      await store.prune(rules, 100);
      await fail(store, RED, {});
      const before = await store.failureGroup(RED, {});
      await store.discardMany([before!.sample.id], "ada", null);
      await clock.advance(1);

      await store.prune(rules, 100);

      await fail(store, RED, {});
      expect(before?.decision).toMatchObject({ kind: "acknowledged" });
      expect((await store.failureGroup(RED, {}))?.decision).toBeNull();
    });

    test("is kept while a letter of the cause is open, or the cause is snoozed", async () => {
      await using db = await open();
      const { store, clock } = db;
      await fail(store, BLUE, {});
      await store.decideGroup(RED, {}, SEEN);
      await store.decideGroup(BLUE, {}, { ...SNOOZED, forMs: 20 * HOUR });
      await clock.advance(9 * HOUR);
      await fail(store, RED, {});
      await clock.advance(2 * HOUR);

      expect(await store.prune(rules, 100)).toMatchObject({ deadLetters: 1 });

      await fail(store, BLUE, {});
      expect((await store.failureGroup(RED, {}))?.decision).toMatchObject({ by: "ada" });
      expect((await store.failureGroup(BLUE, {}))?.decision).toMatchObject({ kind: "snoozed" });
    });

    test("is forgotten if the open letters of the cause are of other tenants", async () => {
      await using db = await open();
      const { store, clock } = db;
      await fail(store, RED, { tenant: "acme" });
      await store.decideGroup(RED, {}, SEEN);
      await store.decideGroup(RED, { tenant: "acme" }, SEEN);
      await clock.advance(9 * HOUR);
      await fail(store, RED, { tenant: "brick" });
      await clock.advance(2 * HOUR);

      await store.prune(rules, 100);

      await fail(store, RED, { tenant: "acme" });
      expect((await store.failureGroup(RED, {}))?.decision).not.toBeNull();
      expect((await store.failureGroup(RED, { tenant: "acme" }))?.decision).toBeNull();
    });

    test("is forgotten in bounded steps", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.decideGroup(RED, {}, SEEN);
      await store.decideGroup(BLUE, {}, SEEN);
      await clock.advance(11 * HOUR);

      expect(await store.prune(rules, 1)).toMatchObject({ more: true });
      expect(await store.prune(rules, 2)).toMatchObject({ more: false });
    });
  });
}

export function failuresSuite(open: OpenStore): void {
  describe("failureDecisions", () => {
    test("answers the decisions about one tenant by cause, page by page", async () => {
      await using db = await open();
      const { store, clock } = db;
      await fail(store, RED, { tenant: "acme" });
      await fail(store, BLUE, { tenant: "acme" }, { tenant: "umbra" });
      const scope = { tenant: "acme" };
      await store.decideGroup(RED, scope, SEEN);
      await store.decideGroup(BLUE, scope, { ...SNOOZED, forMs: HOUR });
      await store.decideGroup(RED, {}, SEEN);
      await store.decideGroup(BLUE, { tenant: "umbra" }, SEEN);

      const all = await store.failureDecisions("acme", { limit: 10 });

      const at = clock.now();
      const red = { cause: RED, kind: SEEN.kind, at, until: null, by: SEEN.by };
      const blue = { cause: BLUE, kind: SNOOZED.kind, at, until: at + HOUR, by: SNOOZED.by };
      const [first, second] = RED < BLUE ? [red, blue] : [blue, red];
      expect(all).toMatchObject([first, second]);
      expect(all).toHaveLength(2);
      expect(await store.failureDecisions("acme", { limit: 1 })).toEqual([all[0]]);
      const page = { limit: 10, after: all[0]!.cause };
      expect(await store.failureDecisions("acme", page)).toEqual([all[1]]);
      expect(await store.failureDecisions("nowhere", { limit: 10 })).toEqual([]);
    });
  });

  describe("failureGroups", () => {
    test("groups open letters by cause, the newest failure first", async () => {
      await using db = await open();
      const { store, clock } = db;
      const start = clock.now();
      await fail(store, BLUE, { type: "b" }, { type: "a" });
      await clock.advance(HOUR);
      const [red] = await fail(store, RED, { type: "c" });
      await clock.advance(HOUR);
      const [blue] = await fail(store, BLUE, { type: "b" });
      // Ages are seldom whole hours.
      await clock.advance(HOUR / 7);

      const groups = await store.failureGroups({}, 10);

      expect(groups).toMatchObject([
        {
          cause: BLUE,
          count: 3,
          isExact: true,
          types: ["a", "b"],
          firstAt: start,
          lastAt: start + 2 * HOUR,
          sample: { id: blue },
          decision: null,
        },
        { cause: RED, count: 1, types: ["c"], sample: { id: red } },
      ]);
      expect(groups[0]?.hours).toEqual([...Array.from({ length: HOURS - 3 }, () => 0), 2, 0, 1]);
      expect(await store.failureGroups({}, 1)).toHaveLength(1);
      expect(await store.failureGroups({}, 10, BLUE)).toEqual(groups.slice(1));
      expect(await store.failureGroups({}, 10, RED)).toEqual([]);
      expect(await store.failureGroups({}, 10, "00000000000000cc")).toEqual([]);
    });

    test("leaves closed letters out, and a cause without open ones", async () => {
      await using db = await open();
      const { store } = db;
      const [one, two] = await fail(store, RED, {}, {});
      const [other] = await fail(store, BLUE, {});
      await store.review(one!, { status: "discarded", by: "ada", notes: null });
      await store.review(two!, { status: "acknowledged", by: "ada", notes: null });
      await store.reprocess(other!, successor(other!), "ada", null);

      expect(await store.failureGroups({}, 10)).toMatchObject([{ cause: RED, count: 1 }]);
      expect(await store.failureGroup(BLUE, {})).toBeNull();
      expect(await store.failureGroup("ffffffffffffffff", {})).toBeNull();
    });

    test("counts letters that are older than a day without an hour", async () => {
      await using db = await open();
      const { store, clock } = db;
      await fail(store, RED, {});
      await clock.advance(HOURS * HOUR);
      await fail(store, RED, {});

      const group = await store.failureGroup(RED, {});

      expect(group).toMatchObject({ count: 2 });
      expect(group?.hours).toEqual([...Array.from({ length: HOURS - 1 }, () => 0), 1]);
    });

    test("has the groups of one tenant, with its own decisions", async () => {
      await using db = await open();
      const { store } = db;
      const [acme] = await fail(store, RED, { tenant: "acme" });
      await fail(store, RED, { tenant: "other" }, { tenant: "other" });
      await fail(store, BLUE, { tenant: "other" });
      await store.decideGroup(RED, { tenant: "acme" }, SEEN);
      await store.decideGroup(RED, { tenant: "nowhere" }, SEEN);

      expect(await store.failureGroups({ tenant: "acme" }, 10)).toMatchObject([
        { cause: RED, count: 1, sample: { id: acme }, decision: { kind: "acknowledged" } },
      ]);
      expect(await store.failureGroup(RED, {})).toMatchObject({ count: 3, decision: null });
      expect(await store.failureGroup(BLUE, { tenant: "acme" })).toBeNull();
      expect(await store.failureGroups({ tenant: "nowhere" }, 10)).toEqual([]);
      expect(await store.failureGroup(RED, { tenant: "nowhere" })).toBeNull();
      expect(await store.lettersOfCause(RED, { tenant: "nowhere" }, { limit: 9 })).toEqual([]);
      expect(await store.lettersOfCause(RED, { tenant: "acme" }, { limit: 9 })).toMatchObject([
        { id: acme },
      ]);
    });
  });

  describe("failureGroup", () => {
    test("has the open letters of one cause, and when the first of them died", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [closed] = await fail(store, RED, {});
      await store.review(closed!, { status: "discarded", by: "ada", notes: null });
      await clock.advance(HOUR);
      const firstAt = clock.now();
      await fail(store, RED, {});
      await fail(store, BLUE, {});

      expect(await store.failureGroup(RED, {})).toMatchObject({ cause: RED, count: 1, firstAt });
    });
  });

  describe("decideGroup", () => {
    test("stores the last decision: who, when, until when", async () => {
      await using db = await open();
      const { store, clock } = db;
      await fail(store, RED, {});
      await store.decideGroup(RED, {}, SEEN);
      const first = await store.failureGroup(RED, {});
      await clock.advance(500);

      await store.decideGroup(RED, {}, { kind: "snoozed", by: "bob", notes: null, forMs: HOUR });

      const now = clock.now();
      expect(first?.decision).toEqual({
        kind: "acknowledged",
        by: "ada",
        notes: "known",
        at: now - 500,
        until: null,
      });
      expect((await store.failureGroup(RED, {}))?.decision).toEqual({
        kind: "snoozed",
        by: "bob",
        notes: null,
        at: now,
        until: now + HOUR,
      });
    });
  });

  decisionsSuite(open);

  describe("lettersOfCause", () => {
    test("pages the open letters of a cause, also when those of a page are closed", async () => {
      await using db = await open();
      const { store, clock } = db;
      const old = await fail(store, RED, {}, {});
      await fail(store, BLUE, {});
      await clock.advance(10);
      const [young] = await fail(store, RED, {});
      const first = await store.lettersOfCause(RED, {}, { limit: 2 });
      await store.discardMany(
        first.map(({ id }) => id),
        "ada",
        null,
      );

      const rest = await store.lettersOfCause(RED, {}, { limit: 2, after: first[1]!.id });

      expect(first[0]?.id).toBe(young);
      expect([...first, ...rest].map(({ id }) => id).toSorted()).toEqual(
        [...old, young!].toSorted(),
      );
      expect(await store.lettersOfCause(RED, {}, { limit: 2, after: jobId() })).toEqual([]);
      // A place goes on whose letter was removed.
      const { diedAt } = first[1]!;
      const behind = (at: number) => ({ limit: 2, behind: { diedAt: at, id: jobId() } });
      expect(await store.lettersOfCause(RED, {}, behind(diedAt + 1))).toEqual(rest);
      expect(await store.lettersOfCause(RED, {}, behind(diedAt - 1))).toEqual([]);
    });
  });

  describe("reprocessMany", () => {
    test("makes one successor of each open letter, however often asked (003-44)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [one, two, gone] = await fail(store, RED, {}, {}, {});
      await store.review(gone!, { status: "discarded", by: "ada", notes: null });
      const [a, b] = [successor(one!), successor(two!)];
      const unknown = jobId();

      const first = await store.reprocessMany(
        [a, b, successor(gone!), successor(unknown)],
        "eve",
        "fixed",
      );
      const again = await store.reprocessMany([successor(two!), successor(one!)], "bob", null);

      expect(first).toEqual([
        { id: one, status: "created", job: a.id },
        { id: two, status: "created", job: b.id },
        { id: gone, status: "closed", job: null },
        { id: unknown, status: "closed", job: null },
      ]);
      expect(again).toEqual([
        { id: two, status: "existing", job: b.id },
        { id: one, status: "existing", job: a.id },
      ]);
      expect(await store.deadLetter(one!)).toMatchObject({
        status: "reprocessed",
        successor: a.id,
        reviewedBy: "eve",
        notes: "fixed",
        reviews: [{ at: clock.now(), by: "eve", act: "reprocessed", notes: "fixed" }],
      });
      expect(await recordOf(store, a.id)).toMatchObject({ retryOf: one });
      expect((await claimable(store)).toSorted()).toEqual([a.id, b.id].toSorted());
    });

    test("leaves a letter open whose dedup key another job holds", async () => {
      await using db = await open();
      const { store } = db;
      const dedup = { key: "k", onConflict: "skip" } as const;
      const [one, two] = await fail(store, RED, { dedup }, {});
      const [holder] = await add(store, { dedup });

      const answers = await store.reprocessMany(
        [successor(one!, { dedup }), successor(two!)],
        "eve",
        null,
      );

      expect(answers).toMatchObject([
        { id: one, status: "held", job: holder },
        { id: two, status: "created" },
      ]);
      expect(await store.deadLetter(one!)).toMatchObject({ status: "pending_review" });
    });
  });

  describe("discardMany", () => {
    test("closes open letters, and answers how many", async () => {
      await using db = await open();
      const { store } = db;
      const [one, two, three] = await fail(store, RED, {}, {}, {});
      await store.review(three!, { status: "discarded", by: "ada", notes: "first" });

      expect(await store.discardMany([one!, two!, three!, jobId()], "eve", "old")).toBe(2);
      expect(await store.discardMany([one!, two!], "eve", "old")).toBe(0);
      expect(await store.deadLetter(one!)).toMatchObject({
        status: "discarded",
        reviewedBy: "eve",
        notes: "old",
        successor: null,
      });
      expect(await store.deadLetter(three!)).toMatchObject({ notes: "first" });
    });
  });
}
