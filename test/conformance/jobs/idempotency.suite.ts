import { describe, expect, test } from "vitest";
import { completed, newJob, retention } from "../../support/factories.ts";
import { add, ask, claimable, runOne, settleAll, take } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const RETURN = { key: "build-7", onConflict: "return-existing" } as const;
const ERROR = { key: "build-7", onConflict: "error" } as const;
const KEEP_NO_JOBS = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 } as const;

export function idempotencySuite(open: OpenStore): void {
  describe("enqueue with an idempotency key", () => {
    test("answers the job that already bears the key (C-13)", async () => {
      await using db = await open();
      const { store } = db;
      const [first] = await add(store, { idempotency: RETURN });

      const again = await ask(store, { idempotency: RETURN });

      expect(again).toEqual({
        status: "existing",
        id: first,
        state: "queued",
        by: "idempotency",
      });
      expect((await store.count({}, 10)).count).toBe(1);
    });

    test("refuses a second job when the key may be used only once (003-11, C-13)", async () => {
      await using db = await open();
      const { store } = db;
      const [holder] = await add(store, { idempotency: RETURN });

      const again = await ask(store, { idempotency: ERROR });

      expect(again).toEqual({ status: "refused", code: "IDEMPOTENCY_KEY_USED", holder });
      expect((await store.count({}, 10)).count).toBe(1);
    });

    test("takes the same body with its keys in another order for the same body", async () => {
      await using db = await open();
      const { store } = db;
      const [first] = await add(store, {
        idempotency: RETURN,
        payload: '{"a":1,"b":{"c":[1,2],"d":null}}',
      });

      const again = await ask(store, {
        idempotency: RETURN,
        payload: '{"b":{"d":null,"c":[1,2]},"a":1}',
      });

      expect(again).toMatchObject({ status: "existing", id: first, by: "idempotency" });
    });

    test.each([
      ["another value", { payload: '{"a":2}' }],
      ["another order of a list", { payload: '{"a":[2,1]}' }],
      ["no payload", { payload: null }],
      ["another type", { type: "sms" }],
    ])("refuses %s under the same key, in both modes (C-13)", async (_, change) => {
      await using db = await open();
      const { store } = db;
      const body = { payload: '{"a":[1,2]}' };
      const [holder] = await add(store, { ...body, idempotency: RETURN });

      const returning = await ask(store, { ...body, ...change, idempotency: RETURN });
      const erring = await ask(store, { ...body, ...change, idempotency: ERROR });

      expect(returning).toEqual({ status: "refused", code: "IDEMPOTENCY_CONFLICT", holder });
      expect(erring).toMatchObject({ status: "refused", holder });
      expect((await store.count({}, 10)).count).toBe(1);
    });

    test("compares payloads as they were given, and stores them redacted", async () => {
      await using db = await open();
      const { store } = db;
      const redacted = { payload: '{"pin":"[redacted]"}' };
      const given = (pin: number) => ({ ...RETURN, givenPayload: `{"pin":${pin}}` });
      const [first] = await add(store, { payload: '{"pin":1}', idempotency: RETURN });
      const other = { key: "build-8" };

      // A rule that came later redacts the same request.
      const again = await ask(store, { ...redacted, idempotency: given(1) });
      expect(again).toMatchObject({ status: "existing", id: first });
      const [second] = await add(store, { ...redacted, idempotency: { ...given(2), ...other } });
      const same = await ask(store, { ...redacted, idempotency: { ...given(2), ...other } });
      expect(same).toMatchObject({ status: "existing", id: second });
      const another = await ask(store, { ...redacted, idempotency: { ...given(3), ...other } });
      expect(another).toMatchObject({ status: "refused", code: "IDEMPOTENCY_CONFLICT" });
      expect((await store.get(second))?.payload).toContain("[redacted]");
    });

    test("keeps the keys of tenants apart (003-11, C-13)", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, { tenant: "acme", idempotency: ERROR, payload: "1" });

      const other = await ask(store, { tenant: "bolt", idempotency: ERROR, payload: "2" });
      const again = await ask(store, { tenant: "bolt", idempotency: ERROR, payload: "2" });

      expect(other).toMatchObject({ status: "created" });
      expect(again).toMatchObject({ status: "refused", code: "IDEMPOTENCY_KEY_USED" });
    });

    test("answers a key that is used twice in one call with one job", async () => {
      await using db = await open();
      const { store } = db;
      const [first, same, other] = [
        newJob({ idempotency: RETURN }),
        newJob({ idempotency: RETURN }),
        newJob({ idempotency: RETURN, payload: "1" }),
      ];

      const answers = await store.enqueue([first, same, other]);

      expect(answers).toEqual([
        { status: "created", id: first.id, state: "queued" },
        { status: "existing", id: first.id, state: "queued", by: "idempotency" },
        { status: "refused", code: "IDEMPOTENCY_CONFLICT", holder: first.id },
      ]);
      expect(await claimable(store)).toEqual([first.id]);
    });

    test("makes one job of twenty overlapping calls on two handles (003-11)", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      const handles = Array.from({ length: 20 }, (_, index) => (index % 2 ? store : other));

      const answers = await Promise.all(
        handles.map((handle) => ask(handle, { idempotency: RETURN })),
      );

      const ids = new Set(answers.map((answer) => "id" in answer && answer.id));
      expect(answers.filter((answer) => answer.status === "created")).toHaveLength(1);
      expect(ids.size).toBe(1);
      expect(await claimable(store)).toEqual([...ids]);
    });

    test("shows how far the existing job has come", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, { idempotency: RETURN });

      const batch = await take(store);
      const whileRunning = await ask(store, { idempotency: RETURN });
      await settleAll(store, batch, completed());
      const afterTheEnd = await ask(store, { idempotency: RETURN });

      expect(whileRunning).toMatchObject({ status: "existing", state: "running" });
      expect(afterTheEnd).toMatchObject({ status: "existing", state: "completed" });
    });

    test("outlives its job: retention of jobs does not free the key (C-13)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, { idempotency: RETURN, payload: '{"a":1}' });
      await runOne(store, completed());
      await clock.advance(10);
      await store.prune(retention({ finishedMs: KEEP_NO_JOBS }), 100);

      const same = await ask(store, { idempotency: RETURN, payload: '{"a":1}' });
      const other = await ask(store, { idempotency: RETURN, payload: '{"a":2}' });
      const strict = await ask(store, { idempotency: ERROR, payload: '{"a":1}' });

      expect(await store.get(id)).toBeNull();
      expect(same).toEqual({ status: "existing", id, state: null, by: "idempotency" });
      expect(other).toEqual({ status: "refused", code: "IDEMPOTENCY_CONFLICT", holder: id });
      expect(strict).toEqual({ status: "refused", code: "IDEMPOTENCY_KEY_USED", holder: id });
      expect((await store.count({}, 10)).count).toBe(0);
    });

    test("frees the key once its own retention has ended, counted from the end", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { idempotency: RETURN });
      await clock.advance(50_000);
      await runOne(store, completed());
      const rules = retention({ finishedMs: KEEP_NO_JOBS, idempotencyMs: 10_000 });

      await clock.advance(9_000);
      const early = await store.prune(rules, 100);
      const kept = await ask(store, { idempotency: RETURN });
      await clock.advance(2_000);
      const late = await store.prune(rules, 100);
      const anew = await ask(store, { idempotency: RETURN });

      expect(early).toMatchObject({ jobs: 1, idempotencyKeys: 0 });
      expect(kept).toMatchObject({ status: "existing", state: null });
      expect(late).toMatchObject({ jobs: 0, idempotencyKeys: 1 });
      expect(anew).toMatchObject({ status: "created" });
    });

    test("never frees the key of a job that has not ended, however old", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, { idempotency: RETURN });
      await clock.advance(100_000);

      const pruned = await store.prune(retention({ idempotencyMs: 0 }), 100);

      expect(pruned.idempotencyKeys).toBe(0);
      expect(await ask(store, { idempotency: RETURN })).toMatchObject({ status: "existing", id });
    });

    test("never answers a job that does not exist after giving way to a dedup key", async () => {
      await using db = await open();
      const { store } = db;
      const dedup = { key: "d", onConflict: "skip" } as const;
      await add(store, { dedup });
      await ask(store, { dedup, idempotency: RETURN });
      await runOne(store, completed());

      const again = await ask(store, { dedup, idempotency: RETURN });

      const id = "id" in again ? again.id : again.holder;
      expect(await store.get(id)).not.toBeNull();
    });
  });
}
