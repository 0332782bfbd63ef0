import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import { SAVED_VIEWS_MAX, type NewSavedView } from "../../../src/store/types/saved-views.ts";
import type { OpenStore } from "../../support/stores.ts";

export function savedViewsSuite(open: OpenStore): void {
  describe("savedViews", () => {
    test("has the views of a tenant or of the installation, by name", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.saveView(viewOf({ name: "b" }));
      await store.saveView(viewOf({ name: "A", by: null, query: "" }));
      await store.saveView(viewOf({ name: "b", tenant: "acme", screen: "workers" }));

      expect(await store.savedViews(null)).toEqual([
        { ...viewOf({ name: "A", by: null, query: "" }), savedAt: clock.now() },
        { ...viewOf({ name: "b" }), savedAt: clock.now() },
      ]);
      expect(await store.savedViews("acme")).toMatchObject([
        { tenant: "acme", name: "b", screen: "workers" },
      ]);
      expect(await store.savedViews("bolt")).toEqual([]);
    });
  });

  describe("saveView", () => {
    test("replaces the view with the same name of the same tenant", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.saveView(viewOf({ name: "a" }));
      await store.saveView(viewOf({ name: "a", tenant: "acme" }));
      await clock.advance(1_000);
      const next = { name: "a", screen: "workers", query: "x=1", by: "bob" };

      await store.saveView(viewOf(next));

      expect(await store.savedViews(null)).toEqual([{ ...viewOf(next), savedAt: clock.now() }]);
      expect(await store.savedViews("acme")).toMatchObject([{ screen: "jobs", by: "ada" }]);
    });

    test("refuses one view too many of a tenant, and replaces one", async () => {
      await using db = await open();
      const { store } = db;
      await fill(store, "acme");

      await expect(store.saveView(viewOf({ name: "more", tenant: "acme" }))).rejects.toMatchObject({
        code: "OPTION_INVALID",
      });
      await store.saveView(viewOf({ name: "n0", tenant: "acme", query: "new" }));
      await store.saveView(viewOf({ name: "more" }));

      const views = await store.savedViews("acme");
      expect(views).toHaveLength(SAVED_VIEWS_MAX);
      expect(views[0]).toMatchObject({ name: "n0", query: "new" });
    });
  });

  describe("removeView", () => {
    test("removes the view of the tenant, and says whether there was one", async () => {
      await using db = await open();
      const { store } = db;
      await store.saveView(viewOf({ name: "a" }));
      await store.saveView(viewOf({ name: "b" }));
      await store.saveView(viewOf({ name: "a", tenant: "acme" }));

      expect(await store.removeView({ tenant: null, name: "a" })).toBe(true);
      expect(await store.removeView({ tenant: null, name: "a" })).toBe(false);
      expect(await store.removeView({ tenant: "bolt", name: "b" })).toBe(false);

      expect(await store.savedViews(null)).toMatchObject([{ name: "b" }]);
      expect(await store.savedViews("acme")).toMatchObject([{ name: "a" }]);
    });

    test("is part of the removal of a tenant", async () => {
      await using db = await open();
      const { store } = db;
      await store.saveView(viewOf({ name: "a" }));
      await store.saveView(viewOf({ name: "a", tenant: "acme" }));

      await store.beginRemoval("acme", { by: "ada", reason: "left" });

      const step = await store.removeOfTenant("acme", 100);

      expect(step).toMatchObject({ status: "done", rows: { saved_view: 0 } });
      expect(await store.savedViews("acme")).toEqual([]);
      expect(await store.savedViews(null)).toHaveLength(1);
    });
  });
}

function viewOf(overrides: Partial<NewSavedView> & { readonly name: string }): NewSavedView {
  return { tenant: null, screen: "jobs", query: "state=failed", by: "ada", ...overrides };
}

async function fill(store: JobStore, tenant: string): Promise<void> {
  for (let n = 0; n < SAVED_VIEWS_MAX; n += 1) {
    await store.saveView(viewOf({ name: `n${n}`, tenant }));
  }
}
