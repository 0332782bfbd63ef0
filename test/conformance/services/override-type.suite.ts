import { describe, expect, test } from "vitest";
import { declaration, workerId } from "../../support/factories.ts";
import type { OpenStore } from "../../support/stores.ts";

export function overrideTypeSuite(open: OpenStore): void {
  describe("overrideType", () => {
    const NOTHING = { lane: null, priority: null, maxAttempts: null, timeoutMs: null };

    test("stores settings beside the declaration, and survives the next one", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.declareTypes(workerId(), [declaration({ priority: 100 })]);

      expect(await store.overrideType("email", { ...NOTHING, priority: 5 }, "ann")).toBe(true);
      await store.declareTypes(workerId(), [declaration({ priority: 70 })]);

      const setAt = clock.now();
      expect(await store.types("email")).toMatchObject([
        { priority: 70, override: { ...NOTHING, priority: 5, by: "ann", setAt } },
      ]);
    });

    test("keeps what was set before and is not named", async () => {
      await using db = await open();
      const { store } = db;
      await store.declareTypes(workerId(), [declaration({})]);
      const first = { lane: "bulk", priority: 5, maxAttempts: 3, timeoutMs: 1_000 };
      await store.overrideType("email", first, "ann");

      await store.overrideType("email", { ...NOTHING, timeoutMs: 0 }, "bob");

      expect(await store.types()).toMatchObject([
        { override: { ...first, timeoutMs: 0, by: "bob" } },
      ]);
      await store.overrideType("email", { ...NOTHING, lane: "fast" }, null);
      expect(await store.types()).toMatchObject([
        { override: { ...first, lane: "fast", timeoutMs: 0, by: null } },
      ]);
    });

    test("removes the override, once", async () => {
      await using db = await open();
      const { store } = db;
      await store.declareTypes(workerId(), [declaration({})]);
      await store.overrideType("email", { ...NOTHING, priority: 5 }, null);

      expect(await store.overrideType("email", null, null)).toBe(true);
      expect(await store.overrideType("email", null, null)).toBe(false);
      expect(await store.types()).toMatchObject([{ override: null }]);
    });

    test("refuses a type that no worker has declared", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit({ kind: "type", name: "sms" }, { concurrency: 1, rate: null }, null);

      expect(await store.overrideType("sms", { ...NOTHING, priority: 5 }, null)).toBe(false);
      expect(await store.overrideType("unknown", { ...NOTHING, priority: 5 }, null)).toBe(false);
    });
  });
}
