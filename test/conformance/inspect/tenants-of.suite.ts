import { describe, expect, test } from "vitest";
import { failedWith, jobId, newJob, retention } from "../../support/factories.ts";
import { keep } from "../../support/notes.ts";
import { add, runOne, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const DEDUP = { key: "site-1", onConflict: "skip" } as const;

export function tenantsOfSuite(open: OpenStore): void {
  describe("tenantsOf", () => {
    test("answers the tenant of each job, in the order given, and null for no job", async () => {
      await using db = await open();
      const { store } = db;
      const [first, second, plain] = await add(store, { tenant: "acme" }, { tenant: "umbra" }, {});

      expect(await store.tenantsOf([plain, second, jobId(), first, second])).toEqual([
        "default",
        "umbra",
        null,
        "acme",
        "umbra",
      ]);
      expect(await store.tenantsOf([])).toEqual([]);
    });

    test("answers the tenant of the key holder for a child that gave way to it", async () => {
      await using db = await open();
      const { store } = db;
      const tenant = "acme";
      const [parent] = await add(store, { tenant, lane: "parents" });
      const batch = await takeOne(store, { lanes: ["parents"] });
      await add(store, { tenant, dedup: DEDUP });
      const child = newJob({ tenant, parentId: parent, dedup: DEDUP });
      await keep(store, batch, { completed: { name: "one", result: null }, children: [child] });

      expect(await store.tenantsOf([child.id])).toEqual([tenant]);
    });

    test("answers the tenant of a dead letter whose job has been removed", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, { tenant: "acme" });
      await runOne(store, failedWith());
      await clock.advance(1_000);
      const { finishedMs } = retention();
      await store.prune(retention({ finishedMs: { ...finishedMs, failed: 0 } }), 10);

      expect(await store.get(id)).toBeNull();
      expect(await store.tenantsOf([id])).toEqual(["acme"]);
    });
  });
}
