import { describe, expect, test } from "vitest";
import type { PermitCount } from "../../../src/core/control/permits.ts";
import type { WakeUp } from "../../../src/store/store.ts";
import { add, claimable, claimRequest, joinWorker, take } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const TYPE = { kind: "type", name: "email" } as const;
const TENANT = { kind: "tenant", name: "acme" } as const;
const INSTALLATION = { kind: "installation", name: "all" } as const;
const RATE = { count: 10, perMs: 1_000, burst: 3 } as const;

function cap(concurrency: number): { readonly concurrency: number; readonly rate: null } {
  return { concurrency, rate: null };
}

/** Permits of two limits. */
function counts(first = 0, many = 0, second = 0, few = 0): readonly PermitCount[] {
  return [
    { limit: first, count: many },
    { limit: second, count: few },
  ];
}

const UNUSED = { used: 0, isUsedUp: false, waiting: null } as const;

export function limitsSuite(open: OpenStore): void {
  describe("setLimit", () => {
    test("stores limits of types, tenants and the installation, and who has set them", async () => {
      await using db = await open();
      const { store, clock } = db;
      const setAt = clock.now();

      await store.setLimit(TYPE, cap(5), "ada");
      await store.setLimit(TENANT, { concurrency: null, rate: RATE }, null);
      await store.setLimit(INSTALLATION, { concurrency: 100, rate: RATE }, "bob");

      const common = { ...UNUSED, owner: "operator", setAt, id: expect.any(Number) };
      expect(await store.limits()).toEqual([
        { ...common, ...INSTALLATION, concurrency: 100, rate: RATE, nextTokenMs: 0, by: "bob" },
        { ...common, ...TENANT, concurrency: null, rate: RATE, nextTokenMs: 0, by: null },
        { ...common, ...TYPE, concurrency: 5, rate: null, nextTokenMs: null, by: "ada" },
      ]);
    });

    test("replaces a limit and keeps the permits that workers hold", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {});
      await store.setLimit(TYPE, cap(5), "ada");
      const [before] = await store.limits();
      await take(store);

      await store.setLimit(TYPE, cap(1), "bob");

      const after = { id: before?.id, concurrency: 1, used: 2, by: "bob" };
      expect(await store.limits()).toMatchObject([after]);
    });

    test("keeps the tokens that are left if the rate stays the same", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {}, {}, {});
      await store.setLimit(TYPE, { concurrency: null, rate: RATE }, null);
      expect(await claimable(store)).toHaveLength(3);

      await store.setLimit(TYPE, { concurrency: 9, rate: RATE }, null);
      expect(await store.limits()).toMatchObject([{ nextTokenMs: 100 }]);
      expect(await claimable(store)).toEqual([]);

      await store.setLimit(TYPE, { concurrency: 9, rate: { ...RATE, burst: 1 } }, null);
      expect(await store.limits()).toMatchObject([{ nextTokenMs: 0 }]);
    });
  });

  describe("limits", () => {
    test("lists the limits by kind and name, whatever their age", async () => {
      await using db = await open();
      const { store } = db;
      for (const name of ["b", "c", "a"])
        await store.setLimit({ kind: "type", name }, cap(1), null);
      await store.setLimit(INSTALLATION, cap(1), null);

      const names = (await store.limits()).map(({ kind, name }) => `${kind} ${name}`);

      expect(names).toEqual(["installation all", "type a", "type b", "type c"]);
    });
  });

  describe("removeLimit", () => {
    test("lets jobs start that the limit had blocked", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(1), null);
      const [, second, third] = await add(store, {}, {}, {});
      await take(store);
      await store.hold(100);
      expect(await claimable(store)).toEqual([]);

      expect(await store.removeLimit(TYPE)).toBe(true);
      await store.release(100);

      expect(await store.limits()).toEqual([]);
      expect(await claimable(store)).toEqual([second, third]);
      expect(await store.removeLimit(TYPE)).toBe(false);
    });

    test("makes permits worthless: a limit that is set again has none of them", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(2), null);
      await add(store, {}, {}, {}, {});
      const worker = await joinWorker(store);
      const { permits } = await store.claim(claimRequest(worker));
      await store.removeLimit(TYPE);
      await store.setLimit(TYPE, cap(1), null);

      const answer = await store.claim(claimRequest(worker, { permits: permits?.granted ?? [] }));

      expect(answer.jobs).toHaveLength(1);
      expect(await store.limits()).toMatchObject([{ used: 1 }]);
    });

    test("leaves a limit that only the code states", async () => {
      await using db = await open();
      const { store } = db;
      await store.declareLimits([{ type: "email", rule: cap(3) }]);

      expect(await store.removeLimit(TYPE)).toBe(false);
      expect(await store.limits()).toMatchObject([{ concurrency: 3 }]);
    });

    test("knows no limit of a name that was never used", async () => {
      await using db = await open();
      expect(await db.store.removeLimit({ kind: "type", name: "unheard" })).toBe(false);
    });
  });

  describe("declareLimits", () => {
    test("stores what the code states, and forgets what it states no more", async () => {
      await using db = await open();
      const { store } = db;

      await store.declareLimits([{ type: "email", rule: cap(3) }]);
      const stated = { ...TYPE, concurrency: 3, owner: "code", by: null };
      expect(await store.limits()).toMatchObject([stated]);
      expect(await store.removeLimit(TYPE)).toBe(false);

      await store.declareLimits([{ type: "email", rule: cap(4) }]);
      expect(await store.limits()).toMatchObject([{ ...stated, concurrency: 4 }]);

      await store.declareLimits([
        { type: "email", rule: null },
        { type: "sms", rule: null },
      ]);
      expect(await store.limits()).toEqual([]);
    });

    test("stores a rate, which keeps its tokens when it is declared again", async () => {
      await using db = await open();
      const { store } = db;
      const rule = { concurrency: null, rate: RATE };
      await store.declareLimits([{ type: "email", rule }]);
      await add(store, {}, {}, {}, {});
      const worker = await joinWorker(store);
      expect((await store.claim(claimRequest(worker))).jobs).toHaveLength(RATE.burst);

      await store.declareLimits([{ type: "email", rule: { rate: RATE, concurrency: null } }]);

      expect(await store.limits()).toMatchObject([{ ...TYPE, ...rule, owner: "code" }]);
      expect((await store.claim(claimRequest(worker))).jobs).toEqual([]);
      const faster = { ...RATE, count: 20 };
      await store.declareLimits([{ type: "email", rule: { concurrency: 5, rate: faster } }]);
      expect(await store.limits()).toMatchObject([{ concurrency: 5, rate: faster }]);
      await store.declareLimits([{ type: "email", rule: null }]);
      expect(await store.limits()).toEqual([]);
    });

    test("gives its rate back after the limit of an operator is removed", async () => {
      await using db = await open();
      const { store } = db;
      const rule = { concurrency: 2, rate: RATE };
      await store.declareLimits([{ type: "email", rule }]);
      await store.setLimit(TYPE, cap(9), "ada");
      expect(await store.limits()).toMatchObject([{ concurrency: 9, rate: null, by: "ada" }]);

      expect(await store.removeLimit(TYPE)).toBe(true);

      expect(await store.limits()).toMatchObject([{ ...rule, owner: "code", by: null }]);
    });

    test("leaves the limit of an operator, which gives way when it is removed", async () => {
      await using db = await open();
      const { store } = db;
      await store.declareLimits([{ type: "email", rule: cap(3) }]);
      await store.setLimit(TYPE, { concurrency: 9, rate: RATE }, "ada");

      await store.declareLimits([{ type: "email", rule: cap(4) }]);

      expect(await store.limits()).toMatchObject([{ concurrency: 9, rate: RATE, by: "ada" }]);
      expect(await store.removeLimit(TYPE)).toBe(true);
      const stated = { concurrency: 4, rate: null, owner: "code", by: null };
      expect(await store.limits()).toMatchObject([stated]);
    });
  });

  describe("keepPermits", () => {
    test("gives other workers what a worker does not keep", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(2), null);
      await add(store, {}, {}, {});
      const { worker, jobs } = await take(store);
      expect(jobs).toHaveLength(2);
      const limit = jobs[0]?.limits?.[0] ?? 0;
      expect(await claimable(store)).toEqual([]);

      expect(await store.keepPermits(worker, [{ limit, count: 1 }])).toBe(true);
      expect(await store.keepPermits(worker, [{ limit, count: 1 }])).toBe(true);

      expect(await store.limits()).toMatchObject([{ used: 1 }]);
      expect(await claimable(store)).toHaveLength(1);
      expect(await claimable(store)).toEqual([]);
    });

    test("returns all permits that are not named", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(2), null);
      await store.setLimit(INSTALLATION, cap(2), null);
      await add(store, {}, {});
      const { worker } = await take(store);

      await store.keepPermits(worker, []);

      expect(await store.limits()).toMatchObject([{ used: 0 }, { used: 0 }]);
    });

    test("wakes workers only if a limit was used up, as jobs wait for no other", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(3), null);
      await store.setLimit(INSTALLATION, cap(9), null);
      await add(store, {}, {}, {});
      const { worker } = await take(store);
      const [wide, full] = (await store.limits()).map(({ id }) => id);
      await db.heardAll(store);
      const woken: WakeUp[] = [];
      store.watch((wakeUp) => void (wakeUp === "work" && woken.push(wakeUp)));

      await store.keepPermits(worker, counts(full, 3, wide, 1));
      expect(woken).toEqual([]);
      await store.keepPermits(worker, counts(full, 2, wide, 1));
      expect(woken).toEqual(["work"]);
    });

    test("never raises what a worker holds", async () => {
      await using db = await open();
      const { store } = db;
      await store.setLimit(TYPE, cap(5), null);
      await add(store, {}, {});
      const { worker, jobs } = await take(store, { limit: 1 });
      const limit = jobs[0]?.limits?.[0] ?? 0;

      await store.keepPermits(worker, [{ limit, count: 5 }]);
      await store.keepPermits(await joinWorker(store), [{ limit, count: 5 }]);

      expect(await store.limits()).toMatchObject([{ used: 1 }]);
    });
  });
}
