import { describe, expect, test } from "vitest";
import { completed, newJob } from "../../support/factories.ts";
import { add, claimable, runOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

export function orderSuite(open: OpenStore): void {
  describe("order of one enqueue", () => {
    test("makes the jobs of one call in the order asked, with keys or without", async () => {
      await using db = await open();
      const { store } = db;
      const jobs = [
        newJob({ dedup: { key: "a", onConflict: "skip" } }),
        newJob(),
        newJob({ dedup: { key: "a", onConflict: "replace" } }),
        newJob({ idempotency: { key: "z", onConflict: "return-existing" } }),
        newJob(),
      ];

      await store.enqueue(jobs);

      const { jobs: listed } = await store.list({}, { limit: 10 });
      expect(listed.map(({ id }) => id).toReversed()).toEqual(jobs.map(({ id }) => id));
      // The first was replaced by the third.
      expect(await claimable(store)).toEqual(jobs.slice(1).map(({ id }) => id));
    });

    test("lets a job find what an earlier one of the same call has freed or moved", async () => {
      await using db = await open();
      const { store } = db;
      const [origin] = await add(store, {});
      await runOne(store, completed());
      const idempotency = { key: "z", onConflict: "return-existing" } as const;
      const dedup = (onConflict: "replace" | "extend") => ({ key: "a", onConflict });
      const [held] = await add(store, { retryOf: origin, dedup: dedup("replace"), idempotency });

      const answers = await store.enqueue([
        newJob({ idempotency }),
        newJob({ dedup: dedup("extend"), due: { delayMs: 1_000 } }),
        newJob({ idempotency }),
        newJob({ dedup: dedup("replace") }),
        newJob({ idempotency }),
        newJob({ retryOf: origin }),
      ]);

      expect(answers).toMatchObject([
        { status: "existing", by: "idempotency", id: held, state: "queued" },
        { status: "existing", by: "dedup", id: held, state: "scheduled" },
        { status: "existing", by: "idempotency", id: held, state: "scheduled" },
        { status: "created" },
        { status: "existing", by: "idempotency", id: held, state: "cancelled" },
        { status: "created" },
      ]);
    });
  });
}
