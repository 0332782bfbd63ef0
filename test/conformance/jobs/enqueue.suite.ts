import { describe, expect, test } from "vitest";
import { idUuid } from "../../../src/core/ids.ts";
import { completed, newJob, newJobs } from "../../support/factories.ts";
import {
  add,
  ask,
  at,
  claimable,
  eventsOf,
  recordOf,
  runOne,
  stateOf,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

export function enqueueSuite(open: OpenStore): void {
  describe("enqueue", () => {
    test("queues a job that is due now, and tells of it (001-10)", async () => {
      await using db = await open();
      const { store, clock } = db;

      for (const due of [{ delayMs: 0 }, { at: clock.now() }]) {
        const job = newJob({ due });
        const [answer] = await store.enqueue([job]);

        expect(answer).toEqual({ status: "created", id: job.id, state: "queued" });
        expect(await stateOf(store, job.id)).toBe("queued");
        expect(await eventsOf(store, job.id)).toEqual(["job:enqueued"]);
      }
    });

    test("schedules a job that is due later, by length or by instant (001-11)", async () => {
      await using db = await open();
      const { store, clock } = db;

      const [byLength, byInstant] = [
        newJob({ due: { delayMs: 1 } }),
        newJob({ due: { at: clock.now() + 60_000 } }),
      ];
      const answers = await store.enqueue([byLength, byInstant]);

      expect(answers).toEqual([
        { status: "created", id: byLength.id, state: "scheduled" },
        { status: "created", id: byInstant.id, state: "scheduled" },
      ]);
      expect(await recordOf(store, byLength.id)).toMatchObject({
        state: "scheduled",
        runAt: clock.now() + 1,
        scheduledAt: clock.now() + 1,
      });
      expect((await recordOf(store, byInstant.id)).runAt).toBe(clock.now() + 60_000);
    });

    test("measures a delay by the store's clock", async () => {
      await using db = await open();
      const { store, clock } = db;
      await clock.advance(5_000);

      const [id] = await add(store, { due: { delayMs: 1_000 } });

      expect(await recordOf(store, id)).toMatchObject({
        createdAt: clock.now(),
        runAt: clock.now() + 1_000,
      });
    });

    test("ranks a job that was due in the past by that past instant", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [first] = await add(store, {});

      const overdue = await ask(store, { due: { at: clock.now() - 60_000 } });

      expect(overdue).toMatchObject({ status: "created", state: "queued" });
      const [firstClaimed, secondClaimed] = await claimable(store);
      expect(firstClaimed).toBe(overdue.status === "created" && overdue.id);
      expect(secondClaimed).toBe(first);
    });

    test("gives every field back as it was asked for", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [parentId, retryOf] = await add(store, {}, {});
      const job = newJob({
        type: "build_processing",
        tenant: "acme",
        lane: "fast",
        category: "documents",
        priority: 7,
        due: { at: clock.now() - 5 },
        maxAttempts: 3,
        timeoutMs: 120_000,
        payload: '{"b":[1,2.5,true,null],"a":{"text":"grüße 🌾 \\u2028 \\"quoted\\""}}',
        payloadVersion: "1.0",
        correlationId: "user-action-123",
        parentId,
        retryOf,
        concurrencyKey: "project-9",
        idempotency: { key: "build-7", onConflict: "return-existing" },
        dedup: { key: "build 7 / ünïcode", onConflict: "skip" },
        webhookUrl: "https://example.test/hook?x=1",
        tags: { edition: "main", "clé 🗝": "wert = 1" },
        createdBy: "ada",
        onOrphan: "fail",
        retryOwner: "supervisor",
      });

      await store.enqueue([job]);

      const { key, payload, ...record } = await recordOf(store, job.id);
      expect(key).toBeGreaterThan(0);
      expect(JSON.parse(payload ?? "")).toEqual(JSON.parse(job.payload ?? ""));
      expect(record).toEqual({
        id: job.id,
        state: "queued",
        type: "build_processing",
        tenant: "acme",
        lane: "fast",
        category: "documents",
        priority: 7,
        payloadVersion: "1.0",
        correlationId: "user-action-123",
        parentId,
        retryOf,
        concurrencyKey: "project-9",
        idempotencyKey: "build-7",
        dedupKey: "build 7 / ünïcode",
        webhookUrl: "https://example.test/hook?x=1",
        onOrphan: "fail",
        retryOwner: "supervisor",
        tags: { edition: "main", "clé 🗝": "wert = 1" },
        createdBy: "ada",
        createdAt: clock.now(),
        scheduledAt: clock.now() - 5,
        runAt: clock.now() - 5,
        maxAttempts: 3,
        timeoutMs: 120_000,
        attempts: 0,
        crashes: 0,
        outcome: null,
        startedAt: null,
        finishedAt: null,
        result: null,
        fault: null,
        phase: null,
        overall: null,
        cancelReason: null,
        heldBy: null,
        isStale: false,
        cancelRequested: false,
      });
    });

    test("tells an absent payload from a payload that is null", async () => {
      await using db = await open();
      const { store } = db;

      const [absent, isNull] = await add(store, { payload: null }, { payload: "null" });

      expect((await recordOf(store, absent)).payload).toBeNull();
      expect((await recordOf(store, isNull)).payload).toBe("null");
    });

    test("keeps a payload near the hard limit whole (I17)", async () => {
      await using db = await open();
      const { store } = db;
      const payload = JSON.stringify({ text: "é".repeat(499_000) });

      const [id] = await add(store, { payload });

      expect((await recordOf(store, id)).payload === payload).toBe(true);
      expect((await takeOne(store)).job.payload === payload).toBe(true);
    });

    test("lets a job without correlation correlate by its own id, as a UUID (004-04)", async () => {
      await using db = await open();
      const { store } = db;

      const [id] = await add(store, { correlationId: null });

      expect((await recordOf(store, id)).correlationId).toBe(idUuid(id));
      expect((await takeOne(store)).job.correlationId).toBe(idUuid(id));
    });

    test("answers in the order asked, whatever the kinds of jobs", async () => {
      await using db = await open();
      const { store } = db;
      const jobs = [
        newJob({ due: { delayMs: 500 } }),
        newJob({ idempotency: { key: "z", onConflict: "return-existing" } }),
        newJob({ priority: 1 }),
        newJob({ dedup: { key: "a", onConflict: "skip" } }),
        newJob({ idempotency: { key: "a", onConflict: "error" } }),
        newJob({ due: { delayMs: 0 } }),
      ];

      const answers = await store.enqueue(jobs);

      expect(answers.map((answer) => answer.status === "created" && answer.id)).toEqual(
        jobs.map((job) => job.id),
      );
    });

    test("takes a thousand jobs in one call", async () => {
      await using db = await open();
      const { store } = db;
      const jobs = newJobs(1_000);

      const answers = await store.enqueue(jobs);

      expect(answers).toEqual(
        jobs.map((job) => ({ status: "created", id: job.id, state: "queued" })),
      );
      expect((await store.count({}, 2_000)).count).toBe(1_000);
      expect(await claimable(store, { limit: 3 })).toEqual(jobs.slice(0, 3).map((job) => job.id));
    });

    test("answers an empty list with an empty list and writes nothing", async () => {
      await using db = await open();
      const { store } = db;

      const answers = await store.enqueue([]);

      expect(answers).toEqual([]);
      expect(await store.feed(0, 10)).toEqual([]);
    });

    test("tells the feed of each job once (I13)", async () => {
      await using db = await open();
      const { store, clock } = db;

      const ids = await add(store, {}, { due: { delayMs: 9_000 } });

      const entries = await store.feed(0, 10);
      expect(entries.map((entry) => entry.kind)).toEqual(entries.map(() => "job:enqueued"));
      expect(entries.flatMap((entry) => entry.jobs).toSorted()).toEqual(ids.toSorted());
      expect(entries.every((entry) => entry.at === clock.now())).toBe(true);
    });

    test("keeps the answers of overlapping calls apart", async () => {
      await using db = await open();
      const { store } = db;
      const calls = Array.from({ length: 30 }, (_, index) => newJobs((index % 3) + 1));

      const answers = await Promise.all(calls.map((jobs) => store.enqueue(jobs)));

      expect(answers.map((call) => call.map((answer) => "id" in answer && answer.id))).toEqual(
        calls.map((jobs) => jobs.map((job) => job.id)),
      );
      expect((await store.count({}, 100)).count).toBe(60);
    });
  });

  describe("enqueue of an id that is known", () => {
    test("answers the existing job when the answer to the first call was lost", async () => {
      await using db = await open();
      const { store, clock } = db;
      const job = newJob({ due: { delayMs: 1_000 }, payload: '{"a":1}', tags: { a: "b" } });
      await store.enqueue([job]);
      await clock.advance(10);

      const [answer] = await store.enqueue([job]);

      expect(answer).toEqual({ status: "existing", id: job.id, state: "scheduled", by: "id" });
      expect((await store.count({}, 10)).count).toBe(1);
      expect(await eventsOf(store, job.id)).toEqual(["job:enqueued"]);
      expect((await recordOf(store, job.id)).runAt).toBe(clock.now() + 990);
    });

    test("makes one job of the same job twice in one call", async () => {
      await using db = await open();
      const { store } = db;
      const job = newJob();

      const answers = await store.enqueue([job, job]);

      expect(answers).toEqual([
        { status: "created", id: job.id, state: "queued" },
        { status: "existing", id: job.id, state: "queued", by: "id" },
      ]);
      expect(await claimable(store)).toEqual([job.id]);
      expect(await eventsOf(store, job.id)).toEqual(["job:enqueued", "job:started"]);
    });

    test("makes one job of overlapping calls on two handles", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      const job = newJob();

      const answers = await Promise.all([store, other, store].map((s) => s.enqueue([job])));

      const statuses = answers.map((answer) => at(answer, 0).status);
      expect(statuses.toSorted()).toEqual(["created", "existing", "existing"]);
      expect(await claimable(store)).toEqual([job.id]);
    });

    test("says how far the job has come, and leaves it there", async () => {
      await using db = await open();
      const { store } = db;
      const job = newJob();
      await add(store, { due: { delayMs: 1_000 } });
      await store.enqueue([job]);
      await runOne(store, completed());

      const [answer] = await store.enqueue([job]);

      expect(answer).toEqual({ status: "existing", id: job.id, state: "completed", by: "id" });
      expect(await claimable(store)).toEqual([]);
    });

    test.each([
      ["payload", { payload: '{"amount":2}' }],
      ["type", { type: "sms" }],
      ["tenant", { tenant: "other" }],
    ])("refuses other content under the same id: %s", async (_, change) => {
      await using db = await open();
      const { store } = db;
      const job = newJob({ payload: '{"amount":1}' });
      await store.enqueue([job]);
      const before = await recordOf(store, job.id);

      const [answer] = await store.enqueue([{ ...job, ...change }]);

      expect(answer).toEqual({ status: "refused", code: "ID_CONFLICT", holder: job.id });
      expect(await recordOf(store, job.id)).toEqual(before);
      expect((await store.count({}, 10)).count).toBe(1);
      expect(await eventsOf(store, job.id)).toEqual(["job:enqueued"]);
    });

    test("repeats a job whose key may be used only once without refusing it", async () => {
      await using db = await open();
      const { store } = db;
      const job = newJob({ idempotency: { key: "k", onConflict: "error" } });
      await store.enqueue([job]);

      const [answer] = await store.enqueue([job]);

      expect(answer).toMatchObject({ status: "existing", id: job.id, state: "queued" });
    });

    test.each(["skip", "replace", "extend"] as const)(
      "repeats a job that would %s the holder of its key without disturbing itself",
      async (onConflict) => {
        await using db = await open();
        const { store, clock } = db;
        const job = newJob({ due: { delayMs: 1_000 }, dedup: { key: "k", onConflict } });
        await store.enqueue([job]);
        const dueAt = clock.now() + 1_000;
        await clock.advance(400);

        const [answer] = await store.enqueue([job]);

        expect(answer).toMatchObject({ status: "existing", id: job.id, state: "scheduled" });
        expect(await recordOf(store, job.id)).toMatchObject({ state: "scheduled", runAt: dueAt });
      },
    );
  });

  describe("enqueue of an id that is known, whose dedup key another job holds", () => {
    test.each(["skip", "replace", "extend"] as const)(
      "answers the job itself and does not %s the holder",
      async (onConflict) => {
        await using db = await open();
        const { store } = db;
        const job = newJob({ dedup: { key: "k", onConflict } });
        await store.enqueue([job]);
        await runOne(store, completed());
        const [holder] = await add(store, { dedup: { key: "k", onConflict: "skip" } });
        const before = await recordOf(store, holder);

        const [answer] = await store.enqueue([job]);

        expect(answer).toEqual({ status: "existing", id: job.id, state: "completed", by: "id" });
        expect(await recordOf(store, holder)).toEqual(before);
      },
    );

    test.each(["replace", "extend"] as const)(
      "refuses other content before it would %s the holder",
      async (onConflict) => {
        await using db = await open();
        const { store } = db;
        const job = newJob({ payload: "1" });
        await store.enqueue([job]);
        const [holder] = await add(store, { dedup: { key: "k", onConflict: "skip" } });
        const before = await recordOf(store, holder);

        const [answer] = await store.enqueue([
          { ...job, payload: "2", dedup: { key: "k", onConflict }, due: { delayMs: 9_000 } },
        ]);

        expect(answer).toEqual({ status: "refused", code: "ID_CONFLICT", holder: job.id });
        expect(await recordOf(store, holder)).toEqual(before);
      },
    );
  });

  describe("enqueue that the database refuses", () => {
    test("leaves nothing behind and harms no neighbour in the same call (I2)", async () => {
      await using db = await open();
      const { store } = db;
      const good = newJob({ type: "fresh", tags: { a: "1" } });
      const broken = newJob({ type: "fresh", payload: "{broken" });

      const answers = await store.enqueue([good, broken]);

      expect(answers).toMatchObject([
        { status: "created", id: good.id },
        { status: "refused", code: "STORE_REFUSED", holder: broken.id },
      ]);
      expect(await store.get(broken.id)).toBeNull();
      expect((await store.feed(0, 10)).map(({ jobs }) => jobs)).toEqual([[good.id]]);
      expect(await claimable(store)).toEqual([good.id]);
    });

    test("harms no overlapping call, before or after it", async () => {
      await using db = await open();
      const { store } = db;
      const [before, after] = [newJob({ type: "fresh" }), newJob({ type: "fresh" })];

      const answers = await Promise.all([
        store.enqueue([before]),
        store.enqueue([newJob({ type: "fresh", payload: "{broken" })]),
        store.enqueue([after]),
      ]);

      expect(answers.flat().map(({ status }) => status)).toEqual(["created", "refused", "created"]);
      expect(await claimable(store, { types: ["fresh"] })).toEqual([before.id, after.id]);
      expect((await store.feed(0, 10))[0]?.jobs).toEqual([before.id, after.id]);
    });

    test.each([
      ["priority", { priority: 2 ** 60 }],
      ["attempts", { maxAttempts: 2 ** 60 }],
      ["limit of time", { timeoutMs: 2 ** 60 }],
      ["due time", { due: { at: 8.64e15 } }],
    ])("refuses a %s that could not be read again", async (_, odd) => {
      await using db = await open();
      const { store } = db;
      const [good, bad] = [newJob(), newJob(odd)];

      const answers = await store.enqueue([good, bad]);

      expect(answers.map(({ status }) => status)).toEqual(["created", "refused"]);
      expect(await claimable(store)).toEqual([good.id]);
      expect(await store.cancel(bad.id, null, null)).toEqual({ status: "unknown" });
    });

    test("refuses more jobs in one call than the loop can bear", async () => {
      await using db = await open();
      const many = Array.from({ length: 10_001 }, () => newJob());

      await expect(db.store.enqueue(many)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    });
  });

  describe("enqueue of a job that is refused", () => {
    test("harms no neighbour in the same call", async () => {
      await using db = await open();
      const { store } = db;
      const taken = newJob({ payload: "1" });
      await store.enqueue([taken]);
      const [before, after] = [newJob(), newJob()];

      const answers = await store.enqueue([before, { ...taken, payload: "2" }, after]);

      expect(answers.map((answer) => answer.status)).toEqual(["created", "refused", "created"]);
      expect(await claimable(store)).toEqual([taken.id, before.id, after.id]);
    });

    test("harms no neighbour in an overlapping call", async () => {
      await using db = await open();
      const { store } = db;
      const [holder] = await add(store, { idempotency: { key: "k", onConflict: "error" } });
      const [before, after] = [newJob(), newJob()];

      const [first, refused, last] = await Promise.all([
        store.enqueue([before]),
        ask(store, { idempotency: { key: "k", onConflict: "error" } }),
        store.enqueue([after]),
      ]);

      expect(first).toEqual([{ status: "created", id: before.id, state: "queued" }]);
      expect(refused).toEqual({ status: "refused", code: "IDEMPOTENCY_KEY_USED", holder });
      expect(last).toEqual([{ status: "created", id: after.id, state: "queued" }]);
      expect(await stateOf(store, after.id)).toBe("queued");
    });
  });
}
