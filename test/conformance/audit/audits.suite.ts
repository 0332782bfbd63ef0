import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import type { AuditQuery } from "../../../src/store/types/audit.ts";
import { add } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

export function auditsSuite(open: OpenStore): void {
  describe("audits", () => {
    test("lists the newest first, in pages, and the oldest first on demand", async () => {
      await using db = await open();
      const { store } = db;
      await pauseLanes(store, "a", "b", "c");

      const page = await store.audits({}, { limit: 2 });
      const rest = await store.audits({}, { limit: 2, after: page.at(-1)?.id ?? 0 });
      const forwards = await store.audits({}, { limit: 2, oldestFirst: true });
      const after = forwards.at(-1)?.id ?? 0;
      const next = await store.audits({}, { limit: 2, oldestFirst: true, after });

      expect([...page, ...rest].map(({ subject }) => subject)).toEqual(["c", "b", "a"]);
      expect([...forwards, ...next].map(({ subject }) => subject)).toEqual(["a", "b", "c"]);
      expect(await store.audits({}, { limit: 0 })).toEqual([]);
    });

    test("filters by tenant, name, actor, subject and time", async () => {
      await using db = await open();
      const { store, clock } = db;
      const start = clock.now();
      await store.pause({ kind: "lane", name: "x" }, { by: "ada", reason: "r" });
      await store.pause({ kind: "tenant", name: "x" }, { by: "bob", reason: "r" });
      await clock.advance(1_000);
      const [job] = await add(store, { tenant: "acme" });
      await store.cancel(job, null, null);
      const found = async (query: AuditQuery, oldestFirst = false): Promise<string[]> => {
        const order = oldestFirst ? { oldestFirst: true as const } : {};
        const entries = await store.audits(query, { limit: 10, ...order });
        return entries.map(({ name }) => name);
      };

      for (const forwards of [false, true]) {
        expect(await found({ tenant: "acme" }, forwards)).toEqual(["job_cancel_requested"]);
        expect(await found({ tenant: null }, forwards)).toEqual(["lane_paused"]);
        expect(await found({ tenant: "nowhere" }, forwards)).toEqual([]);
        expect(await found({ name: "tenant_paused" }, forwards)).toEqual(["tenant_paused"]);
        expect(await found({ actor: "ada" }, forwards)).toEqual(["lane_paused"]);
        const subject = { kind: "lane", name: "x" } as const;
        expect(await found({ subject }, forwards)).toEqual(["lane_paused"]);
        expect(await found({ from: start + 1_000 }, forwards)).toEqual(["job_cancel_requested"]);
        expect(await found({ to: start + 1_000 }, forwards)).toHaveLength(2);
        expect(await found({ from: start, to: start }, forwards)).toEqual([]);
      }
    });

    test("keeps texts as they were, and bounds what is stored", async () => {
      await using db = await open();
      const { store } = db;
      const reason = `"quoted" \\ 'and' <ü𝄞>\n${"x".repeat(3_000)}`;
      const weights = Object.fromEntries(
        Array.from({ length: 400 }, (_, index) => [`tenant-${index}`, 2]),
      );

      await store.pause({ kind: "lane", name: "ü'\"\\" }, { by: "ada \\ '", reason });
      await store.setFairness("fast", weights, null);

      const [fair, paused] = await store.audits({}, { limit: 10 });
      expect(paused).toMatchObject({ subject: "ü'\"\\", actor: "ada \\ '" });
      expect(paused?.reason).toHaveLength(2_000);
      expect(paused?.reason?.startsWith(reason.slice(0, 1_900))).toBe(true);
      expect(JSON.parse(fair?.after ?? "")).toMatchObject({ cut: true });
    });
  });
}

async function pauseLanes(store: JobStore, ...names: readonly string[]): Promise<void> {
  for (const name of names) await store.pause({ kind: "lane", name }, { by: null, reason: "r" });
}
