import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import { letterSuccessor } from "../../../src/jobs/letter-successor.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import { failedWith, jobId, newJob, retention } from "../../support/factories.ts";
import {
  add,
  addDead,
  claimable,
  eventsOf,
  recordOf,
  runOne,
  stateOf,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import { wakes } from "../../support/flows.ts";

const SEEN = { status: "acknowledged", by: "ada", notes: "known outage" } as const;
const DROPPED = { status: "discarded", by: "bob", notes: "obsolete" } as const;

/** Brings a letter where no verdict changes it any more. */
const CLOSED: readonly (readonly [string, (store: JobStore, id: JobId) => Promise<unknown>])[] = [
  ["discarded", (store, id) => store.review(id, DROPPED)],
  ["reprocessed", (store, id) => store.reprocess(id, successorOf(id), "eve", null)],
];

/** Where a letter can be reprocessed. */
const OPEN: readonly (readonly [string, (store: JobStore, id: JobId) => Promise<unknown>])[] = [
  ["pending_review", async () => {}],
  ["acknowledged", (store, id) => store.review(id, SEEN)],
];

export function reviewSuite(open: OpenStore): void {
  describe("review", () => {
    test("finds a new letter untouched", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await addDead(store, {});

      expect(await store.deadLetter(id)).toMatchObject({
        status: "pending_review",
        reviewedBy: null,
        reviewedAt: null,
        notes: null,
        successor: null,
      });
    });

    test.each([SEEN, DROPPED])(
      "makes a pending letter $status: who, when, what they wrote (C-17)",
      async (verdict) => {
        await using db = await open();
        const { store, clock } = db;
        const [id, other] = await addDead(store, {}, {});
        const before = await store.deadLetter(id);
        await clock.advance(500);

        const answer = await store.review(id, verdict);

        const letter = {
          ...before,
          status: verdict.status,
          reviewedBy: verdict.by,
          reviewedAt: clock.now(),
          notes: verdict.notes,
          reviews: [{ at: clock.now(), by: verdict.by, act: verdict.status, notes: verdict.notes }],
        };
        expect(answer).toEqual({ status: "reviewed", letter });
        expect(await store.deadLetter(id)).toEqual(letter);
        expect(await store.deadLetter(other)).toMatchObject({ status: "pending_review" });
      },
    );

    test.each([SEEN, DROPPED])("lets an acknowledged letter become $status", async (verdict) => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await addDead(store, {});
      await store.review(id, { status: "acknowledged", by: "eve", notes: "looking" });
      await clock.advance(500);

      const answer = await store.review(id, verdict);

      expect(answer).toMatchObject({
        status: "reviewed",
        letter: {
          status: verdict.status,
          reviewedBy: verdict.by,
          reviewedAt: clock.now(),
          notes: verdict.notes,
        },
      });
    });

    test.each(CLOSED)("does not change a %s letter, and shows it", async (_, close) => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await addDead(store, {});
      await close(store, id);
      const letter = await store.deadLetter(id);
      await clock.advance(500);

      expect(await store.review(id, SEEN)).toEqual({ status: "closed", letter });
      expect(await store.review(id, DROPPED)).toEqual({ status: "closed", letter });
      expect(await store.deadLetter(id)).toEqual(letter);
    });

    test("does not know a letter that never was, nor one of a job that lives", async () => {
      await using db = await open();
      const { store } = db;
      const [living] = await add(store, {});

      expect(await store.review(jobId(), SEEN)).toEqual({ status: "unknown" });
      expect(await store.review(living, DROPPED)).toEqual({ status: "unknown" });
      expect(await store.deadLetter(living)).toBeNull();
    });

    test("leaves the job as it is, and the feed without a word", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await addDead(store, {});
      const before = [await recordOf(store, id), await eventsOf(store, id)];

      await store.review(id, SEEN);
      await store.review(id, DROPPED);

      expect([await recordOf(store, id), await eventsOf(store, id)]).toEqual(before);
    });

    test("closes a letter once when two handles discard it at once", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      const [id] = await addDead(store, {});

      const answers = await Promise.all([store.review(id, DROPPED), other.review(id, DROPPED)]);

      expect(answers.map(({ status }) => status).toSorted()).toEqual(["closed", "reviewed"]);
    });

    test.each(CLOSED)("begins anew when the id of a %s letter dies again", async (_, close) => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await addDead(store, { type: "sms" });
      await close(store, id);
      await claimable(store);
      await clock.advance(1_000);
      const rules = retention();
      await store.prune({ ...rules, finishedMs: { ...rules.finishedMs, failed: 0 } }, 10);

      await addDead(store, { id, type: "email", tenant: "acme" });

      expect(await store.deadLetter(id)).toMatchObject({
        type: "email",
        tenant: "acme",
        status: "pending_review",
        diedAt: clock.now(),
        reviewedBy: null,
        reviewedAt: null,
        notes: null,
        successor: null,
      });
    });
  });

  describe("reprocess", () => {
    test("keeps what the payload has changed (003-26)", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await addDead(store, {});
      const changes = [{ path: "$.a", before: 1, after: "€" }, { path: "$.b" }];

      await store.reprocess(id, successorOf(id), "eve", null, JSON.stringify(changes));

      expect((await store.deadLetter(id))?.reviews).toMatchObject([{ by: "eve", changes }]);
    });

    test("repeats an unchanged payload digit by digit", async () => {
      await using db = await open();
      const { store } = db;
      const payload = '{"b": 12345678901234567890, "a":0.10000000000000000001,"c":1E400,"b":-0}';
      const [id] = await addDead(store, { payload });
      const letter = (await store.deadLetter(id))!;
      const by = { actor: "eve", nowMs: db.clock.now() };
      const successor = letterSuccessor(letter, jobId(), by);

      await store.reprocess(id, successor, "eve", null);

      expect(await recordOf(store, successor.id)).toMatchObject({ payload });
    });

    test.each(OPEN)("replaces a %s letter by a linked job (003-44)", async (_, prepare) => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await addDead(store, { payload: '{"a":1}' });
      await prepare(store, id);
      const before = await store.deadLetter(id);
      await clock.advance(500);
      const successor = successorOf(id, { payload: '{"a":2}' });

      const answer = await store.reprocess(id, successor, "eve", "source fixed");

      const letter = {
        ...before,
        status: "reprocessed",
        reviewedBy: "eve",
        reviewedAt: clock.now(),
        notes: "source fixed",
        successor: successor.id,
        reviews: [
          ...(before?.reviews ?? []),
          { at: clock.now(), by: "eve", act: "reprocessed", notes: "source fixed" },
        ],
      };
      expect(answer).toEqual({
        status: "reprocessed",
        letter,
        answer: { status: "created", id: successor.id, state: "queued" },
      });
      expect(await store.deadLetter(id)).toEqual(letter);
      expect(await recordOf(store, successor.id)).toMatchObject({
        state: "queued",
        retryOf: id,
        payload: '{"a":2}',
      });
      expect(await stateOf(store, id)).toBe("failed");
      expect(await eventsOf(store, successor.id)).toEqual(["job:enqueued"]);
      expect(await claimable(store)).toEqual([successor.id]);
    });

    test("wakes those who wait for work", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await addDead(store, {});

      await wakes(db, () => store.reprocess(id, successorOf(id), "eve", null));

      expect(await claimable(store)).toHaveLength(1);
    });

    test.each(CLOSED)("makes no job for a %s letter", async (_, close) => {
      await using db = await open();
      const { store } = db;
      const [id] = await addDead(store, {});
      await close(store, id);
      const letter = await store.deadLetter(id);
      const successor = successorOf(id);

      const answer = await store.reprocess(id, successor, "eve", "again");

      expect(answer).toEqual({ status: "closed", letter });
      expect(await store.get(successor.id)).toBeNull();
      expect(await store.deadLetter(id)).toEqual(letter);
    });

    test("makes no job for a letter that never was", async () => {
      await using db = await open();
      const { store } = db;
      const id = jobId();
      const successor = successorOf(id);

      expect(await store.reprocess(id, successor, "eve", null)).toEqual({ status: "unknown" });
      expect(await store.get(successor.id)).toBeNull();
    });

    test("tells a repeat after a lost answer which job was made", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await addDead(store, {});
      const successor = successorOf(id);
      await store.reprocess(id, successor, "eve", null);

      const answer = await store.reprocess(id, successor, "eve", null);

      expect(answer).toMatchObject({ status: "closed", letter: { successor: successor.id } });
      expect(await claimable(store)).toEqual([successor.id]);
    });

    test.each(OPEN)(
      "leaves a %s letter when its job has a living successor",
      async (_, prepare) => {
        await using db = await open();
        const { store } = db;
        const [id] = await addDead(store, {});
        await prepare(store, id);
        const letter = await store.deadLetter(id);
        const [living] = await add(store, { retryOf: id });
        const successor = successorOf(id);

        const answer = await store.reprocess(id, successor, "eve", "again");

        expect(answer).toEqual({
          status: "reprocessed",
          letter,
          answer: { status: "existing", id: living, state: "queued", by: "successor" },
        });
        expect(await store.deadLetter(id)).toEqual(letter);
        expect(await store.get(successor.id)).toBeNull();
      },
    );

    test.each([
      ["a key that is used", { idempotency: { key: "k", onConflict: "error" } }],
      ["a value that the database does not take", { priority: -1 }],
    ] as const)("leaves the letter when its successor has %s", async (_, overrides) => {
      await using db = await open();
      const { store } = db;
      const idempotency = { key: "k", onConflict: "error" } as const;
      const [id] = await addDead(store, { idempotency });
      const letter = await store.deadLetter(id);
      const successor = successorOf(id, overrides);

      const answer = await store.reprocess(id, successor, "eve", "again");

      expect(answer).toMatchObject({
        status: "reprocessed",
        letter,
        answer: { status: "refused" },
      });
      expect(await store.deadLetter(id)).toEqual(letter);
      expect(await store.get(successor.id)).toBeNull();
      expect(await eventsOf(store, successor.id)).toEqual([]);
      const repaired = await store.reprocess(id, successorOf(id), "eve", "again");
      expect(repaired).toMatchObject({ answer: { status: "created" } });
    });

    test("refuses a successor that does not name the letter", async () => {
      await using db = await open();
      const { store } = db;
      const [id, other] = await addDead(store, {}, {});
      const successors = [newJob(), newJob({ retryOf: other })];

      for (const successor of successors) {
        await expect(store.reprocess(id, successor, "eve", null)).rejects.toMatchObject({
          code: "OPTION_INVALID",
        });
        expect(await store.get(successor.id)).toBeNull();
      }
      expect(await store.deadLetter(id)).toMatchObject({ status: "pending_review" });
    });

    test("works when retention has removed the job", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await addDead(store, {});
      await clock.advance(1_000);
      const rules = retention();
      await store.prune({ ...rules, finishedMs: { ...rules.finishedMs, failed: 0 } }, 10);

      const answer = await store.reprocess(id, successorOf(id), "eve", null);

      expect(answer).toMatchObject({ status: "reprocessed", answer: { status: "created" } });
    });

    test("leaves the successor's own death to a letter of its own", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await addDead(store, {});
      const successor = successorOf(id);
      await store.reprocess(id, successor, "eve", null);

      await runOne(store, failedWith());

      expect(await store.deadLetter(successor.id)).toMatchObject({ status: "pending_review" });
      expect(await store.deadLetter(id)).toMatchObject({ status: "reprocessed" });
    });

    test("makes one job when two handles do it at once", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      const [id] = await addDead(store, {});

      const answers = await Promise.all(
        [store, other].map((handle) => handle.reprocess(id, successorOf(id), "eve", null)),
      );

      expect(answers.map(({ status }) => status).toSorted()).toEqual(["closed", "reprocessed"]);
      expect(await claimable(store)).toHaveLength(1);
    });
  });
}

function successorOf(id: JobId, overrides: Partial<NewJob> = {}): NewJob {
  return newJob({ retryOf: id, ...overrides });
}
