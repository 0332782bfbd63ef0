import { describe, expect, test } from "vitest";
import {
  cancelled,
  completed,
  completedWithErrors,
  failedWith,
  newJob,
  retryIn,
  runAgain,
} from "../../support/factories.ts";
import { add, addDead, ask, claimable, eventsOf, runOne, stateOf } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import { HELD_BY_WORKER, WAITING } from "../../support/waiting.ts";

const STATES: Readonly<Record<string, string>> = {
  scheduled: "scheduled",
  queued: "queued",
  held: "queued",
  running: "running",
  buffered: "running",
};

/** At most one living job repeats a final one. */
export function successorSuite(open: OpenStore): void {
  describe("successor", () => {
    test.each([...WAITING, ...HELD_BY_WORKER])(
      "is refused a twin while it is %s",
      async (place, put) => {
        await using db = await open();
        const { store } = db;
        const [retryOf] = await addDead(store, {});
        const first = await put(store, { retryOf });
        const second = newJob({ retryOf });

        const answers = await store.enqueue([second]);

        expect(answers).toEqual([
          { status: "existing", id: first, state: STATES[place], by: "successor" },
        ]);
        expect(await store.get(second.id)).toBeNull();
        expect(await eventsOf(store, second.id)).toEqual([]);
      },
    );

    test.each([retryIn(1_000), runAgain()])(
      "is refused a twin between two of its runs, $to",
      async (settlement) => {
        await using db = await open();
        const { store } = db;
        const [retryOf] = await addDead(store, {});
        const [first] = await add(store, { retryOf });
        await runOne(store, settlement);

        expect(await ask(store, { retryOf })).toEqual({
          status: "existing",
          id: first,
          state: settlement.to,
          by: "successor",
        });
      },
    );

    test.each([completed(), completedWithErrors(1), failedWith(), cancelled()])(
      "makes room for another once it has ended as $to",
      async (settlement) => {
        await using db = await open();
        const { store } = db;
        const [retryOf] = await addDead(store, {});
        await add(store, { retryOf });
        await runOne(store, settlement);

        expect(await ask(store, { retryOf })).toMatchObject({ status: "created" });
        expect(await ask(store, { retryOf })).toMatchObject({ status: "existing" });
      },
    );

    test("has a predecessor of its own: others do not matter", async () => {
      await using db = await open();
      const { store } = db;
      const [one, two] = await addDead(store, {}, {});
      await add(store, { retryOf: one });

      expect(await ask(store, { retryOf: two })).toMatchObject({ status: "created" });
      expect(await ask(store, { retryOf: null })).toMatchObject({ status: "created" });
    });

    test("may have a successor, too", async () => {
      await using db = await open();
      const { store } = db;
      const [first] = await addDead(store, {});
      const [second] = await addDead(store, { retryOf: first });

      expect(await ask(store, { retryOf: second })).toMatchObject({ status: "created" });
    });

    test("is no twin of itself: a repeat finds its own id", async () => {
      await using db = await open();
      const { store } = db;
      const [retryOf] = await addDead(store, {});
      const job = newJob({ retryOf });
      await store.enqueue([job]);

      expect(await store.enqueue([job])).toEqual([
        { status: "existing", id: job.id, state: "queued", by: "id" },
      ]);
    });

    test("is found by its idempotency key first", async () => {
      await using db = await open();
      const { store } = db;
      const [retryOf] = await addDead(store, {});
      const idempotency = { key: "k", onConflict: "return-existing" } as const;
      const [first] = await add(store, { retryOf, idempotency });

      expect(await ask(store, { retryOf, idempotency })).toMatchObject({
        status: "existing",
        id: first,
        by: "idempotency",
      });
    });

    test("keeps a twin from replacing a job", async () => {
      await using db = await open();
      const { store } = db;
      const [retryOf] = await addDead(store, {});
      const dedup = { key: "once", onConflict: "replace" } as const;
      const [first, holder] = await add(store, { retryOf }, { dedup });

      const answer = await ask(store, { retryOf, dedup });

      expect(answer).toMatchObject({ status: "existing", id: first, by: "successor" });
      expect(await stateOf(store, holder)).toBe("queued");
    });

    test("is alone among several of one call", async () => {
      await using db = await open();
      const { store } = db;
      const [retryOf] = await addDead(store, {});

      const answers = await store.enqueue([newJob({ retryOf }), newJob({ retryOf }), newJob()]);

      expect(answers.map(({ status }) => status)).toEqual(["created", "existing", "created"]);
    });

    test("is alone when two handles ask at once", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      const [retryOf] = await addDead(store, {});

      const answers = await Promise.all([ask(store, { retryOf }), ask(other, { retryOf })]);

      expect(answers.map(({ status }) => status).toSorted()).toEqual(["created", "existing"]);
      expect(await claimable(store)).toHaveLength(1);
    });
  });
}
