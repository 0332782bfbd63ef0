import { describe, expect, test } from "vitest";
import type { NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import { newJob } from "../../support/factories.ts";
import { claimable, recordOf, take } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const KIND = { lane: "fast", priority: 7, tags: { region: "nord" } } as const;

/** Jobs that differ in nothing but their ids and payloads: a store may write them in one stroke. */
export function alikeSuite(open: OpenStore): void {
  describe("enqueue of jobs that are alike", () => {
    test("keeps their order, and gives each its own payload", async () => {
      await using db = await open();
      const { store } = db;
      const jobs = alike();

      const answers = await store.enqueue(jobs);

      expect(answers).toEqual(jobs.map(({ id }) => ({ status: "created", id, state: "queued" })));
      const batch = await take(store);
      expect(batch.jobs.map(({ id, payload }) => [id, payload])).toEqual(
        jobs.map(({ id, payload }) => [id, payload]),
      );
      expect(batch.jobs[2]).toMatchObject({ ...KIND, createdAt: db.clock.now() });
    });

    test("finds all of them by their tags", async () => {
      await using db = await open();
      const { store } = db;
      const jobs = alike();

      await store.enqueue(jobs);

      const { jobs: found } = await store.list({ tags: KIND.tags }, { limit: 10 });
      expect(found.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id).toReversed());
    });

    test("tells the feed of all of them", async () => {
      await using db = await open();
      const { store } = db;
      const jobs = alike();

      await store.enqueue(jobs);

      const feed = await store.feed(0, 10);
      expect(feed.map(({ kind }) => kind)).toEqual(feed.map(() => "job:enqueued"));
      expect(feed.flatMap((entry) => entry.jobs)).toEqual(jobs.map(({ id }) => id));
    });

    test("lets all of them wait for their time, and no longer", async () => {
      await using db = await open();
      const { store, clock } = db;
      const jobs = alike({ due: { delayMs: 1_000 } });
      const dueAt = clock.now() + 1_000;

      const answers = await store.enqueue(jobs);

      expect(answers.map((answer) => "state" in answer && answer.state)).toEqual(
        jobs.map(() => "scheduled"),
      );
      expect((await recordOf(store, jobs[0]!.id)).runAt).toBe(dueAt);
      expect(await claimable(store)).toEqual([]);
      await clock.advance(1_000);
      await store.promote(10);
      expect(await claimable(store)).toEqual(jobs.map(({ id }) => id));
    });

    test("harms none of them when one is known already", async () => {
      await using db = await open();
      const { store } = db;
      const jobs = alike();
      await store.enqueue(jobs.slice(1, 2));

      const answers = await store.enqueue(jobs);

      expect(answers.map(({ status }) => status)).toEqual([
        "created",
        "existing",
        "created",
        "created",
      ]);
      expect((await store.count({ tags: KIND.tags }, 10)).count).toBe(4);
    });
  });

  describe("enqueue of jobs that differ", () => {
    test("ranks each by its due time, and finds each by its tags", async () => {
      await using db = await open();
      const { store, clock } = db;
      const jobs = [
        newJob({ due: { at: clock.now() - 10 }, tags: { n: "1" } }),
        newJob({ due: { at: clock.now() - 30 }, tags: { n: "2" } }),
        newJob({ due: { at: clock.now() - 20 } }),
      ];

      await store.enqueue(jobs);

      const { jobs: found } = await store.list({ tags: { n: "2" } }, { limit: 10 });
      expect(found.map(({ id }) => id)).toEqual([jobs[1]?.id]);
      expect(await claimable(store)).toEqual([1, 2, 0].map((index) => jobs[index]?.id));
    });
  });
}

function alike(overrides: Partial<NewJob> = {}): readonly NewJob[] {
  return ['{"n":1}', null, '{"n":3}', "null"].map((payload) =>
    newJob({ ...KIND, payload, ...overrides }),
  );
}
