import { describe, expect, test } from "vitest";
import { firstSlot } from "../../../src/core/cron/plan.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { ScheduleChange, ScheduleSpec } from "../../../src/store/types/schedules.ts";
import { newJob, newSchedule } from "../../support/factories.ts";
import type { OpenStore } from "../../support/stores.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;
const NEW = { revision: null, by: "ada" };

export function schedulesSuite(open: OpenStore): void {
  describe("declareSchedules", () => {
    test("stores what code declares, with its first slot (000-54)", async () => {
      await using db = await open();
      const spec = newSchedule({
        timeZone: "Europe/Berlin",
        missedMax: 7,
        overlap: "replace",
        jitterMs: 5_000,
        startsAt: 1,
        endsAt: 8e12,
        job: { payload: '{"a":1}', tags: { b: "c" }, tenant: "acme", dedup: null },
      });

      await db.store.declareSchedules([spec], firstSlot);

      const now = db.clock.now();
      expect(await db.store.schedule("hourly")).toEqual({
        ...spec,
        owner: "code",
        nextSlot: firstSlot(spec, now),
        lastSlot: null,
        lastJob: null,
        pausedAt: null,
        pausedBy: null,
        pauseReason: null,
        declaredAt: now,
        createdBy: null,
        createdAt: now,
        updatedAt: now,
        revision: 1,
      });
    });

    test("the same again changes nothing but the time of the declaration", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.declareSchedules([newSchedule()], firstSlot);
      const before = await store.schedule("hourly");
      await clock.advance(3 * HOUR);

      await store.declareSchedules([newSchedule()], firstSlot);

      // A slot that became due meanwhile stays due.
      expect(await store.schedule("hourly")).toEqual({ ...before, declaredAt: clock.now() });
    });

    test("a changed job keeps the next slot, and a changed time gets another", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.declareSchedules([newSchedule()], firstSlot);
      const { nextSlot } = (await store.schedule("hourly"))!;
      await clock.advance(2 * HOUR);

      await store.declareSchedules([newSchedule({ job: { type: "other" } })], firstSlot);
      expect(await store.schedule("hourly")).toMatchObject({ nextSlot, revision: 2 });

      await store.declareSchedules([newSchedule({ cron: "30 * * * *" })], firstSlot);
      expect(await store.schedule("hourly")).toMatchObject({
        revision: 3,
        nextSlot: firstSlot(newSchedule({ cron: "30 * * * *" }), clock.now()),
      });
    });

    test.each<Partial<ScheduleSpec>>([
      { timeZone: "Asia/Kolkata" },
      { startsAt: Date.UTC(2030, 0, 1) },
      { endsAt: 1 },
    ])("%j is another time", async (change) => {
      await using db = await open();
      await db.store.declareSchedules([newSchedule()], firstSlot);
      const changed = { ...newSchedule(), ...change };

      await db.store.declareSchedules([changed], firstSlot);

      const { nextSlot } = (await db.store.schedule("hourly"))!;
      expect(nextSlot).toBe(firstSlot(changed, db.clock.now()));
    });

    test("a pause survives a deploy", async () => {
      await using db = await open();
      const { store } = db;
      await store.declareSchedules([newSchedule()], firstSlot);
      await store.pauseSchedule("hourly", { reason: "a bug", by: "ada" });

      await store.declareSchedules([newSchedule({ overlap: "skip" })], firstSlot);

      expect(await store.schedule("hourly")).toMatchObject({
        overlap: "skip",
        pauseReason: "a bug",
        pausedBy: "ada",
        pausedAt: db.clock.now(),
      });
    });

    test("code takes over the schedule of an operator", async () => {
      await using db = await open();
      const { store } = db;
      await store.saveSchedule(newSchedule(), NEW, firstSlot);

      await store.declareSchedules([newSchedule()], firstSlot);

      expect(await store.schedule("hourly")).toMatchObject({ owner: "code", revision: 2 });
    });

    test("nothing carries over from a schedule that another tenant has made", async () => {
      await using db = await open();
      const { store } = db;
      const theirs = newSchedule({ name: "theirs", job: { tenant: "acme" } });
      for (const spec of [theirs, newSchedule()]) {
        await store.saveSchedule(spec, NEW, firstSlot);
        await store.pauseSchedule(spec.name, { reason: "mine", by: "mallory" });
        await store.runSchedule(spec.name, () => newJob());
      }

      const declared = [newSchedule({ name: "theirs" }), newSchedule()];
      expect(await store.declareSchedules(declared, firstSlot)).toEqual(["theirs"]);
      expect(await store.declareSchedules(declared, firstSlot)).toEqual([]);

      expect(await store.schedule("theirs")).toMatchObject({
        owner: "code",
        job: { tenant: "default" },
        pausedAt: null,
        pausedBy: null,
        createdBy: null,
        revision: 1,
        nextSlot: firstSlot(newSchedule(), db.clock.now()),
      });
      expect(await store.scheduleTicks("theirs", { limit: 9 })).toEqual([]);
      // An operator of the same tenant has paused it, and the pause survives.
      expect(await store.schedule("hourly")).toMatchObject({ owner: "code", pausedBy: "mallory" });
      expect(await store.scheduleTicks("hourly", { limit: 9 })).toHaveLength(1);
    });

    test("many processes that declare at once store one schedule each", async () => {
      await using db = await open();
      const others = await Promise.all([db.another(), db.another()]);
      const specs = ["a", "b", "c"].map((name) => newSchedule({ name }));

      await Promise.all([
        ...[db.store, ...others].map((store) => store.declareSchedules(specs, firstSlot)),
        others[0].declareSchedules(specs.toReversed(), firstSlot),
      ]);

      const all = await db.store.schedules({}, { limit: 10 });
      expect(all.map(({ name, revision }) => [name, revision])).toEqual([
        ["a", 1],
        ["b", 1],
        ["c", 1],
      ]);
    });

    test("refuses more than 1,000 schedules", async () => {
      await using db = await open();
      const many = Array.from({ length: 1_001 }, (_, n) => newSchedule({ name: `s${n}` }));

      await expect(db.store.declareSchedules(many, firstSlot)).rejects.toMatchObject({
        code: "OPTION_INVALID",
      });
    });
  });

  describe("confirmSchedules", () => {
    test("notes that schedules of code are declared, and changes no others", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.declareSchedules(
        ["a", "b"].map((name) => newSchedule({ name })),
        firstSlot,
      );
      await store.saveSchedule(newSchedule({ name: "own" }), NEW, firstSlot);
      const declaredAt = clock.now();
      await clock.advance(1_000);

      const missing = await store.confirmSchedules(["unknown", "a", "own"]);

      expect(missing).toEqual(["own", "unknown"]);

      expect(await store.schedule("a")).toMatchObject({ declaredAt: clock.now(), revision: 1 });
      expect(await store.schedule("b")).toMatchObject({ declaredAt });
      expect(await store.schedule("own")).toMatchObject({ declaredAt: null });
    });
  });

  describe("dueSchedules", () => {
    test("names the schedules with a due slot, and the time until the next one", async () => {
      await using db = await open();
      const { store, clock } = db;
      const now = clock.now();
      const slots: Record<string, number | null> = {
        due: now,
        early: now - 1,
        later: now + MINUTE,
        never: null,
      };
      const specs = Object.keys(slots).map((name) => newSchedule({ name }));
      await store.declareSchedules(specs, ({ name }) => slots[name] ?? null);
      const names = Object.keys(slots);

      expect(await store.dueSchedules(names, 10)).toEqual({
        names: ["early", "due"],
        nextMs: MINUTE,
      });
      expect(await store.dueSchedules(names, 1)).toEqual({ names: ["early"], nextMs: 0 });
      expect(await store.dueSchedules(["never"], 10)).toEqual({ names: [], nextMs: null });
    });

    test("has the schedules of operators, and of code only the declared ones", async () => {
      await using db = await open();
      const { store } = db;
      await store.declareSchedules(
        ["a", "b"].map((name) => newSchedule({ name })),
        () => 1,
      );
      await store.saveSchedule(newSchedule({ name: "own" }), NEW, () => 2);

      expect(await store.dueSchedules(["b", "unknown"], 10)).toMatchObject({ names: ["b", "own"] });
      expect(await store.dueSchedules([], 10)).toEqual({ names: ["own"], nextMs: null });
    });

    test("has no paused schedule", async () => {
      await using db = await open();
      await db.store.saveSchedule(newSchedule(), NEW, () => 1);
      await db.store.pauseSchedule("hourly", { reason: "a bug", by: null });

      expect(await db.store.dueSchedules([], 10)).toEqual({ names: [], nextMs: null });
    });
  });

  describe("schedules", () => {
    test("come by name, page by page, perhaps of one tenant", async () => {
      await using db = await open();
      const { store } = db;
      for (const name of ["b", "B", "a", "ä"]) {
        const tenant = name === "b" ? "acme" : "default";
        await store.saveSchedule(newSchedule({ name, job: { tenant } }), NEW, firstSlot);
      }
      const names = async (...args: Parameters<JobStore["schedules"]>) =>
        (await store.schedules(...args)).map(({ name }) => name);

      expect(await names({}, { limit: 10 })).toEqual(["B", "a", "b", "ä"]);
      expect(await names({}, { limit: 2 })).toEqual(["B", "a"]);
      expect(await names({}, { limit: 2, after: "a" })).toEqual(["b", "ä"]);
      expect(await names({ tenant: "acme" }, { limit: 10 })).toEqual(["b"]);
    });
  });

  describe("schedule", () => {
    test("finds one by its name", async () => {
      await using db = await open();
      await db.store.saveSchedule(newSchedule({ name: "a" }), NEW, firstSlot);
      await db.store.saveSchedule(newSchedule({ name: "b" }), NEW, firstSlot);

      expect(await db.store.schedule("b")).toMatchObject({ name: "b" });
      expect(await db.store.schedule("c")).toBeNull();
    });
  });

  describe("saveSchedule", () => {
    test("stores a schedule of an operator", async () => {
      await using db = await open();
      const spec = newSchedule();

      expect(await db.store.saveSchedule(spec, NEW, firstSlot)).toBe("saved");

      const now = db.clock.now();
      expect(await db.store.schedule("hourly")).toMatchObject({
        ...spec,
        owner: "operator",
        createdBy: "ada",
        declaredAt: null,
        createdAt: now,
        nextSlot: firstSlot(spec, now),
      });
    });

    test("changes it from the revision that was read, and keeps the rest", async () => {
      await using db = await open();
      const { store, clock } = db;
      const save = (cron: string, revision: number | null) =>
        store.saveSchedule(newSchedule({ cron }), { revision, by: "bob" }, firstSlot);
      await store.saveSchedule(newSchedule(), NEW, firstSlot);
      await store.pauseSchedule("hourly", { reason: "a bug", by: null });
      await clock.advance(1);

      expect(await save("5 * * * *", 1)).toBe("saved");
      expect(await save("6 * * * *", 1)).toBe("outdated");

      expect(await store.schedule("hourly")).toMatchObject({
        cron: "5 * * * *",
        nextSlot: firstSlot(newSchedule({ cron: "5 * * * *" }), clock.now()),
        revision: 2,
        pauseReason: "a bug",
        createdBy: "ada",
        updatedAt: clock.now(),
      });
    });

    test("refuses a name that is taken, an unknown one, and one of code", async () => {
      await using db = await open();
      const { store } = db;
      await store.declareSchedules([newSchedule({ name: "code" })], firstSlot);
      await store.saveSchedule(newSchedule(), NEW, firstSlot);
      const save = (name: string, revision: number | null) =>
        store.saveSchedule(newSchedule({ name, cron: "@daily" }), { ...NEW, revision }, firstSlot);

      expect(await save("hourly", null)).toBe("exists");
      expect(await save("unknown", 1)).toBe("unknown");
      expect(await save("code", 1)).toBe("owned_by_code");
      expect(await save("code", null)).toBe("owned_by_code");
      for (const { cron } of await store.schedules({}, { limit: 9 })) expect(cron).toBe("@hourly");
    });
  });

  describe("saveSchedule beyond the maximum", () => {
    test("refuses a tenant the 101st schedule, also of two at once", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      const save = (handle: JobStore, name: string, change: ScheduleChange) =>
        handle.saveSchedule(newSchedule({ name, job: { tenant: "acme" } }), change, firstSlot);
      const ofTenant = { ...NEW, ofTenant: true } as const;
      for (let n = 0; n < 99; n += 1) await save(store, `s${n}`, ofTenant);
      await store.saveSchedule(newSchedule(), NEW, firstSlot);

      const last = [save(store, "a", ofTenant), save(other, "b", ofTenant)];

      expect((await Promise.all(last)).toSorted()).toEqual(["saved", "too_many_of_tenant"]);
      expect(await save(store, "s1", ofTenant)).toBe("exists");
      expect(await save(store, "s1", { ...ofTenant, revision: 1 })).toBe("saved");
      expect(await save(store, "by all", NEW)).toBe("saved");
      await store.declareSchedules([newSchedule({ name: "of code" })], firstSlot);
      expect(await store.schedule("of code")).not.toBeNull();
    });
  });

  describe("pauseSchedule", () => {
    test("stores who paused it and why; a second pause keeps the time", async () => {
      await using db = await open();
      const { store, clock } = db;
      const pausedAt = clock.now();
      await store.saveSchedule(newSchedule(), NEW, firstSlot);

      expect(await store.pauseSchedule("hourly", { reason: "a bug", by: "ada" })).toBe(true);
      await clock.advance(5);
      expect(await store.pauseSchedule("hourly", { reason: "two bugs", by: null })).toBe(true);
      expect(await store.pauseSchedule("unknown", { reason: "a bug", by: null })).toBe(false);

      expect(await store.schedule("hourly")).toMatchObject({
        pausedAt,
        pausedBy: null,
        pauseReason: "two bugs",
        revision: 1,
      });
    });
  });

  describe("resumeSchedule", () => {
    test("leaves out the slots of the pause", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.saveSchedule(newSchedule(), NEW, firstSlot);
      await store.pauseSchedule("hourly", { reason: "a bug", by: "ada" });
      await clock.advance(5 * HOUR);

      expect(await store.resumeSchedule("hourly", firstSlot)).toBe("resumed");

      expect(await store.schedule("hourly")).toMatchObject({
        pausedAt: null,
        pausedBy: null,
        pauseReason: null,
        nextSlot: firstSlot(newSchedule(), clock.now()),
      });
      expect(await store.dueSchedules([], 9)).toMatchObject({ names: [] });
    });

    test("goes on after the last slot when the clock was set back", async () => {
      await using db = await open();
      const { store, clock } = db;
      const slot = Math.floor(clock.now() / HOUR) * HOUR;
      await store.saveSchedule(newSchedule(), NEW, () => slot);
      const future = slot + 5 * HOUR;
      await store.tickSchedule("hourly", () => ({
        ticks: [{ slot: future, job: newJob() }],
        missed: null,
        nextSlot: future + HOUR,
      }));
      await store.pauseSchedule("hourly", { reason: "a bug", by: null });

      await store.resumeSchedule("hourly", firstSlot);

      expect(await store.schedule("hourly")).toMatchObject({ nextSlot: future + HOUR });
    });

    test("says when there is no pause, and no schedule", async () => {
      await using db = await open();
      await db.store.saveSchedule(newSchedule(), NEW, () => 1);

      expect(await db.store.resumeSchedule("hourly", firstSlot)).toBe("not_paused");
      expect(await db.store.resumeSchedule("unknown", firstSlot)).toBe("unknown");
      expect(await db.store.schedule("hourly")).toMatchObject({ nextSlot: 1 });
    });
  });

  describe("removeSchedule", () => {
    test("removes a schedule of an operator and its ticks", async () => {
      await using db = await open();
      const { store } = db;
      for (const name of ["a", "b"]) {
        await store.saveSchedule(newSchedule({ name }), NEW, firstSlot);
        await store.runSchedule(name, () => newJob());
      }

      expect(await store.removeSchedule("a")).toBe("removed");
      expect(await store.removeSchedule("a")).toBe("unknown");

      expect(await store.schedule("a")).toBeNull();
      expect(await store.scheduleTicks("a", { limit: 9 })).toEqual([]);
      expect(await store.scheduleTicks("b", { limit: 9 })).toHaveLength(1);
      expect(await store.schedule("b")).not.toBeNull();
    });

    test("removes one of code only when no worker has declared it for five minutes", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.declareSchedules([newSchedule()], firstSlot);
      await clock.advance(5 * MINUTE - 1);

      expect(await store.removeSchedule("hourly")).toBe("owned_by_code");
      await clock.advance(1);
      expect(await store.removeSchedule("hourly")).toBe("removed");
    });
  });
}
