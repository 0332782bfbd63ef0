import { describe, expect, test } from "vitest";
import { failedWith, jobId, retention, retryIn } from "../../support/factories.ts";
import { add, addDead, runOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const SEEN = { status: "acknowledged", by: "ada", notes: "known outage" } as const;
const NOTE = { act: "noted", by: "bob", notes: "asked the bank" } as const;
const ENTRIES_MAX = 100;

export function annotateSuite(open: OpenStore): void {
  describe("annotate", () => {
    test("adds notes behind each other: who, when and what (C-17)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id, other] = await addDead(store, {}, {});
      const start = clock.now();
      await store.review(id, SEEN);
      await clock.advance(500);

      const answer = await store.annotate(id, NOTE);

      const reviews = [
        { at: start, by: "ada", act: "acknowledged", notes: "known outage" },
        { at: start + 500, by: "bob", act: "noted", notes: "asked the bank", to: null },
      ];
      expect(answer).toMatchObject({
        status: "reviewed",
        letter: { status: "acknowledged", notes: "known outage", assignedTo: null, reviews },
      });
      expect(await store.deadLetter(other)).toMatchObject({ reviews: [] });
    });

    test("assigns a letter, and takes it away", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await addDead(store, {});

      const given = await store.annotate(id, {
        act: "assigned",
        by: "ada",
        to: "bob",
        notes: null,
      });
      await store.annotate(id, NOTE);
      const kept = await store.deadLetter(id);
      const taken = await store.annotate(id, {
        act: "assigned",
        by: "ada",
        to: null,
        notes: "ill",
      });

      expect(given).toMatchObject({ letter: { status: "pending_review", assignedTo: "bob" } });
      expect(kept).toMatchObject({ assignedTo: "bob" });
      expect(taken).toMatchObject({ letter: { assignedTo: null } });
    });

    test("lets a closed letter get notes, and no person", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await addDead(store, {});
      await store.review(id, { ...SEEN, status: "discarded" });

      expect(await store.annotate(id, NOTE)).toMatchObject({ status: "reviewed" });
      expect(
        await store.annotate(id, { act: "assigned", by: "ada", to: "bob", notes: null }),
      ).toMatchObject({ status: "closed", letter: { assignedTo: null } });
    });

    test("does not know a letter that does not exist", async () => {
      await using db = await open();

      expect(await db.store.annotate(jobId(), NOTE)).toEqual({ status: "unknown" });
    });

    test("keeps the newest 100 entries", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await addDead(store, {});
      for (let n = 0; n <= ENTRIES_MAX; n++) await store.annotate(id, { ...NOTE, notes: `n${n}` });
      await store.review(id, SEEN);

      const reviews = (await store.deadLetter(id))?.reviews ?? [];

      expect(reviews).toHaveLength(ENTRIES_MAX);
      expect(reviews[0]?.notes).toBe("n2");
      expect(reviews.at(-1)).toMatchObject({ act: "acknowledged" });
    });
  });

  describe("the history of a dead letter", () => {
    test("has the error of every failed run, also when the job is removed (003-23)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const first = clock.now();
      const [id] = await add(store, {});
      await runOne(store, retryIn(1_000));
      await clock.advance(1_000);
      await store.promote(10);
      const fault = { class: "transient", name: "TypeError", message: "€".repeat(400) } as const;
      await runOne(store, { ...failedWith({ ...fault, cause: "0123456789abcdef" }), tries: 2 });
      await clock.advance(10_000_000);
      await store.prune({ ...retention(), deadLetterMs: 100_000_000 }, 100);

      expect(await store.get(id)).toBeNull();
      expect((await store.deadLetter(id))?.history).toEqual([
        {
          n: 1,
          outcome: "failed",
          finishedAt: first,
          fault: expect.objectContaining({ name: "Error" }),
        },
        {
          n: 2,
          outcome: "failed",
          finishedAt: first + 1_000,
          fault: { ...fault, message: "€".repeat(300), cause: "0123456789abcdef" },
        },
      ]);
    });

    test("begins anew when the id is used again", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await addDead(store, {});
      await store.annotate(id, { act: "assigned", by: "ada", to: "bob", notes: null });
      await clock.advance(10_000_000);
      await store.prune({ ...retention(), deadLetterMs: 100_000_000 }, 100);
      await add(store, { id });
      await runOne(store, failedWith());

      expect(await store.deadLetter(id)).toMatchObject({
        assignedTo: null,
        reviews: [],
        history: [{ n: 1 }],
      });
    });
  });
}
