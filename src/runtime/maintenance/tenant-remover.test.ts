import { describe, expect, test } from "vitest";
import { dutyWorld } from "../../../test/support/duties.ts";
import { newJobs } from "../../../test/support/factories.ts";
import { tenantRemover } from "./tenant-remover.ts";

const WHY = { by: "ada", reason: "over" } as const;

describe("the remover of tenants", () => {
  test("ends a removal that another process has begun", async () => {
    await using world = await dutyWorld();
    const { store, clock, parts } = world;
    await store.enqueue(newJobs(3, { tenant: "acme" }));
    await store.beginRemoval("acme", WHY);
    const duty = tenantRemover(parts);

    duty.wake();
    await world.stillness();
    await clock.advance(0);
    await world.stillness();
    await duty.stop();

    expect(await store.removal("acme")).toMatchObject({ ...WHY, doneAt: clock.now() });
    expect((await store.count({ tenant: "acme" }, 10)).count).toBe(0);
  });

  test.each(["openRemovals", "list"] as const)(
    "leaves a tenant that comes back during %s, after another process ended the removal",
    async (verb) => {
      await using world = await dutyWorld();
      const { store, clock, parts } = world;
      await store.beginRemoval("acme", WHY);
      const method: Function = store[verb].bind(store);
      let isBack = false;
      Reflect.set(store, verb, async (...args: unknown[]): Promise<unknown> => {
        const before: unknown = await method(...args);
        if (isBack) return before;
        isBack = true;
        await store.removeOfTenant("acme", 100);
        await store.enqueue(newJobs(3, { tenant: "acme" }));
        return verb === "list" ? method(...args) : before;
      });
      const duty = tenantRemover(parts);

      duty.wake();
      await world.stillness();
      await duty.stop();

      expect(await store.removal("acme")).toMatchObject({ doneAt: clock.now(), removed: 0 });
      expect(await store.intakes()).toEqual([]);
      const queued = { tenant: "acme", states: ["queued"] } as const;
      expect((await store.count(queued, 10)).count).toBe(3);
    },
  );

  test("ends a removal behind many that fail or cannot go on", async () => {
    await using world = await dutyWorld();
    const { store, clock, parts, logged } = world;
    const removeOfTenant = store.removeOfTenant.bind(store);
    const blocked = { status: "removing", removed: 0, isBlocked: true } as const;
    Reflect.set(store, "removeOfTenant", async (tenant: string, limit: number) => {
      if (tenant === "broken") throw new Error("disk full");
      return tenant.startsWith("rests-") ? blocked : removeOfTenant(tenant, limit);
    });
    const earlier = Array.from({ length: 12 }, (_, index) => `rests-${index}`);
    for (const tenant of ["broken", ...earlier]) await store.beginRemoval(tenant, WHY);
    await clock.advance(1);
    await store.beginRemoval("acme", WHY);
    const duty = tenantRemover(parts);

    duty.wake();
    await world.stillness();
    await duty.stop();

    expect(await store.removal("acme")).toMatchObject({ doneAt: clock.now() });
    expect(logged).toEqual(["a removal failed; trying again"]);
  });

  test("continues no further removal once it is stopped", async () => {
    await using world = await dutyWorld();
    const { store, clock, parts } = world;
    await store.beginRemoval("acme", WHY);
    await clock.advance(1);
    await store.beginRemoval("bolt", WHY);
    const duty = tenantRemover(parts);

    duty.wake();
    await duty.stop();

    expect((await store.openRemovals(10)).map(({ tenant }) => tenant)).toEqual(["acme", "bolt"]);
  });

  test("leaves an intake open that an operator has opened during the removal", async () => {
    await using world = await dutyWorld();
    const { store, parts } = world;
    const intake = { kind: "tenant", name: "default" } as const;
    await store.closeIntake(intake, WHY);
    await store.beginRemoval("default", WHY);
    await store.openIntake(intake);
    const duty = tenantRemover(parts);

    duty.wake();
    await world.stillness();
    await duty.stop();

    expect((await store.get(world.id))?.cancelRequested).toBe(true);
    expect(await store.intakes()).toEqual([]);
  });

  test("looks again every 10 s while a job runs, and deletes it when it has ended", async () => {
    await using world = await dutyWorld();
    const { store, clock, parts } = world;
    await store.beginRemoval("default", WHY);
    const duty = tenantRemover(parts);

    duty.wake();
    await world.stillness();
    expect((await store.get(world.id))?.cancelRequested).toBe(true);
    const steps: string[] = [];
    const removeOfTenant = store.removeOfTenant.bind(store);
    Reflect.set(store, "removeOfTenant", async (tenant: string, limit: number) => {
      steps.push(tenant);
      return removeOfTenant(tenant, limit);
    });
    await clock.advance(9_999);
    await world.stillness();
    expect(steps).toEqual([]);
    await clock.advance(1);
    await world.stillness();
    expect(steps).toEqual(["default"]);
    await duty.stop();

    expect(await store.removal("default")).toMatchObject({ doneAt: null });
  });
});
