import { describe, expect, test } from "vitest";
import { checkAudit } from "../../../src/client/audit/verify.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { retention } from "../../support/factories.ts";
import type { OpenStore } from "../../support/stores.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const INTACT = { findings: [], more: 0, unsealed: 0, isComplete: true };

export function sealAuditSuite(open: OpenStore): void {
  describe("sealAudit", () => {
    test("makes one chain per tenant, and another day goes on with the last hash", async () => {
      await using db = await open();
      const { store, clock } = db;
      await act(store, "a", "b", "a");
      expect(await store.sealAudit(100)).toBe(3);
      await clock.advance(DAY_MS);
      await act(store, "a");
      expect(await store.sealAudit(100)).toBe(1);

      const seals = await store.auditSeals({}, { limit: 10 });

      const day = Math.floor(clock.now() / DAY_MS);
      expect(seals.map(({ tenant, day: of, position }) => [tenant, of - day, position])).toEqual([
        ["a", -1, 1],
        ["a", -1, 2],
        ["a", 0, 1],
        ["b", -1, 1],
      ]);
      const [first, second, third, other] = seals;
      expect(first?.previous).toBe("0".repeat(64));
      expect(second?.previous).toBe(first?.hash);
      expect(third?.previous).toBe(second?.hash);
      expect(other?.previous).toBe("0".repeat(64));
      expect(await checkAudit(store, {})).toMatchObject({ ...INTACT, sealed: 4 });
    });

    test("seals no more than the limit, in the order of entries, and nothing twice", async () => {
      await using db = await open();
      const { store, clock } = db;
      for (const tenant of ["a", "b", "a"]) {
        await act(store, tenant);
        await clock.advance(1_000);
      }
      const ids = (await store.audits({}, { limit: 3, oldestFirst: true })).map(({ id }) => id);

      expect(await store.sealAudit(2)).toBe(2);
      const sealed = await store.auditSeals({}, { limit: 3 });
      expect(sealed.map(({ auditId }) => auditId)).toEqual(ids.slice(0, 2));
      expect(await checkAudit(store, {})).toMatchObject({ findings: [], sealed: 2, unsealed: 1 });
      expect(await store.sealAudit(2)).toBe(1);
      expect(await store.sealAudit(2)).toBe(0);
      expect(await checkAudit(store, {})).toMatchObject({ ...INTACT, sealed: 3 });
    });

    test("keeps the order of a chain when the clock goes back over midnight", async () => {
      await using db = await open();
      const { store, clock } = db;
      await clock.advance(DAY_MS - (clock.now() % DAY_MS));
      await act(store, "a");
      await store.sealAudit(10);
      clock.setBack(1_000);
      await act(store, "a");
      await store.sealAudit(10);

      const [first, second] = await store.auditSeals({}, { limit: 10 });
      expect(second).toMatchObject({ day: first?.day, position: 2 });
      expect(await checkAudit(store, {})).toMatchObject(INTACT);
    });

    test("several processes seal each entry once", async () => {
      await using db = await open();
      const stores = [db.store, await db.another(), await db.another()];
      for (let round = 0; round < 5; round += 1) {
        await Promise.all(stores.map((store, index) => act(store, `t${index}`)));
        await Promise.all(stores.map((store) => store.sealAudit(2)));
      }
      while ((await db.store.sealAudit(100)) > 0);

      expect(await checkAudit(db.store, {})).toMatchObject({ ...INTACT, sealed: 15 });
    });
  });

  describe("auditSeals", () => {
    test("pages by tenant, and reads one chain on demand", async () => {
      await using db = await open();
      const { store } = db;
      await act(store, "b", "a", "b");
      await store.pause({ kind: "lane", name: "x" }, { by: null, reason: "r" });
      await store.sealAudit(10);

      const [first, ...rest] = await store.auditSeals({}, { limit: 2 });
      const last = rest.at(-1);
      const next = await store.auditSeals({}, { limit: 2, ...(last ? { after: last } : {}) });

      expect([first, ...rest, ...next].map((seal) => seal?.tenant)).toEqual([null, "a", "b", "b"]);
      expect(await store.auditSeals({ tenant: "b" }, { limit: 9 })).toEqual(next);
      expect(await store.auditSeals({ tenant: null }, { limit: 9 })).toEqual([first]);
      expect(first?.entry).toEqual((await store.audits({ tenant: null }, { limit: 1 }))[0]);
    });
  });

  describe("chainStart", () => {
    test("is the last seal that retention has removed, also if it has removed all", async () => {
      await using db = await open();
      const { store, clock } = db;
      await act(store, "a", "a", "b");
      await store.sealAudit(10);
      const { heads } = await checkAudit(store, {});
      const [last] = heads;
      expect(await store.chainStart("a")).toBeNull();
      await clock.advance(3 * DAY_MS);
      await act(store, "b");
      await store.sealAudit(10);
      await store.prune(retention({ auditMs: DAY_MS }), 100);

      expect(await store.auditSeals({ tenant: "a" }, { limit: 9 })).toEqual([]);
      expect({ tenant: "a", ...(await store.chainStart("a")) }).toEqual(last);
      expect(await store.chainStart("nowhere")).toBeNull();
      expect(await store.chainStart(null)).toBeNull();
      expect(await checkAudit(store, {}, { heads })).toMatchObject(INTACT);
      expect(await checkAudit(store, { tenant: "a" }, { heads: [last!] })).toMatchObject(INTACT);
      const forged = { ...last!, hash: "f".repeat(64) };
      const { findings } = await checkAudit(store, {}, { heads: [forged] });
      expect(findings).toMatchObject([{ kind: "altered", tenant: "a" }]);
      const later = { ...last!, position: last!.position + 1 };
      const check = await checkAudit(store, {}, { heads: [later] });
      expect(check.findings).toMatchObject([{ kind: "head_removed", tenant: "a" }]);
    });
  });

  describe("newestSealed", () => {
    test("is empty before the first seal, and of one chain on demand", async () => {
      await using db = await open();
      const { store } = db;
      expect(await store.newestSealed({})).toEqual({ id: null, at: null });
      await act(store, "a");
      await store.sealAudit(10);

      expect(await store.newestSealed({ tenant: "b" })).toEqual({ id: null, at: null });
      expect(await store.newestSealed({ tenant: "a" })).toEqual(await store.newestSealed({}));
      expect(await store.newestSealed({})).not.toEqual({ id: null, at: null });
    });
  });

  describe("unsealedAudits", () => {
    test("reads entries page by page, and answers those without a seal", async () => {
      await using db = await open();
      const { store } = db;
      await act(store, "a", "a");
      await store.sealAudit(10);
      await act(store, "b", "a");

      const first = await store.unsealedAudits({}, { limit: 3 });
      const last = await store.unsealedAudits({}, { limit: 3, after: first.next ?? 0 });

      expect(first.entries.map(({ tenant }) => tenant)).toEqual(["b"]);
      expect(last).toMatchObject({ entries: [{ tenant: "a" }], next: null });
      expect((await store.unsealedAudits({ tenant: "b" }, { limit: 9 })).entries).toHaveLength(1);
    });
  });

  describe("prune", () => {
    test("removes whole days of the audit, and the chain goes on", async () => {
      await using db = await open();
      const { store, clock } = db;
      await act(store, "a", "a", "b");
      await store.sealAudit(10);
      await clock.advance(DAY_MS);
      await act(store, "a");
      await store.sealAudit(10);
      const rules = { ...retention(), auditMs: HOUR_MS };
      const midnight = DAY_MS - (clock.now() % DAY_MS);

      expect(await store.prune(rules, 2)).toMatchObject({ audits: 2, more: true });
      expect(await checkAudit(store, {})).toMatchObject({ ...INTACT, sealed: 2 });
      expect(await store.prune(rules, 2)).toMatchObject({ audits: 1 });
      expect(await store.prune(rules, 2)).toMatchObject({ audits: 0 });
      expect((await store.audits({}, { limit: 10 })).map(({ tenant }) => tenant)).toEqual(["a"]);
      expect(await checkAudit(store, {})).toMatchObject({ ...INTACT, sealed: 1 });

      await clock.advance(midnight + HOUR_MS - 1);
      expect(await store.prune(rules, 2)).toMatchObject({ audits: 0 });
      await clock.advance(1);
      expect(await store.prune(rules, 2)).toMatchObject({ audits: 1 });

      await act(store, "a", "b");
      await store.sealAudit(10);
      expect(await checkAudit(store, {})).toMatchObject({ ...INTACT, sealed: 2 });
    });

    test("leaves entries without a seal", async () => {
      await using db = await open();
      const { store, clock } = db;
      await act(store, "a");
      await clock.advance(10 * DAY_MS);

      expect(await store.prune({ ...retention(), auditMs: 0 }, 10)).toMatchObject({ audits: 0 });
      expect(await store.audits({}, { limit: 10 })).toHaveLength(1);
    });
  });
}

/** Writes one entry for each tenant of the list. */
async function act(store: JobStore, ...tenants: readonly string[]): Promise<void> {
  for (const name of tenants) {
    await store.pause({ kind: "tenant", name }, { by: "ada", reason: `for ${name}` });
  }
}
