/** `millrace schedules`, on a store. */
import { describe, expect, test } from "vitest";
import { defineJob, schedule } from "../../../src/index.ts";
import { TestStore, type } from "../command-line.ts";

describe("millrace schedules (000-54)", () => {
  test("creates, shows, changes, pauses, runs and removes a schedule", async () => {
    await using store = new TestStore();
    const when = ["--time-zone", "Europe/Berlin", "--missed", "3", "--overlap", "skip"];

    const made = await store.type(
      "schedules",
      "create",
      "nightly",
      "0 3 * * *",
      "cleanup",
      ...when,
    );
    expect(made).toMatchObject({ code: 0 });
    expect(made.out).toMatch(/^nightly: every day at 03:00 Europe\/Berlin; next /);
    const updated = await store.type("schedules", "update", "nightly", "--cron", "0 4 * * *");
    expect(updated.out).toContain("every day at 04:00 Europe/Berlin");
    expect(await store.type("schedules", "pause", "nightly", "a bug", "--by", "ada")).toMatchObject(
      {
        out: "nightly is paused.\n",
      },
    );
    const shown = await store.type("schedules", "show", "nightly");
    expect(shown.out).toMatch(/^pause reason +a bug$/m);
    expect(shown.out).toMatch(/^missed +all up to 3$/m);
    expect((await store.type("schedules", "resume", "nightly")).out).toContain("active again");
    const run = await store.type("schedules", "run", "nightly", "-o", "json");
    const { id } = JSON.parse(run.out);
    const history = JSON.parse(
      (await store.type("schedules", "show", "nightly", "-o", "json")).out,
    );
    expect(history.ticks).toMatchObject([{ outcome: "run_now", jobId: id }]);
    const listed = await store.type("schedules", "history", "nightly");
    expect(listed.out).toMatch(new RegExp(`^TICK .*\\n.* run_now +${id} `));
    const asJson = await store.type("schedules", "history", "nightly", "-o", "json");
    expect(JSON.parse(asJson.out)).toMatchObject([{ outcome: "run_now", jobId: id }]);
    const earlier = ["--before", "2020-01-01T00:00:00Z"];
    const none = await store.type("schedules", "history", "nightly", ...earlier);
    expect(none).toMatchObject({ code: 0, out: "", err: "No ticks.\n" });
    expect((await store.type("schedules", "list")).out).toMatch(/^nightly .* operator +active /m);
    expect(await store.type("schedules", "remove", "nightly")).toMatchObject({ code: 0 });
    expect(await store.type("schedules", "show", "nightly")).toMatchObject({
      code: 1,
      err: expect.stringContaining("SCHEDULE_NOT_FOUND"),
    });
  });

  test("stores a job with the settings that a worker has declared for its type", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const job = defineJob({ type: "cleanup", lane: "heavy", priority: 70, maxAttempts: 9 });
    const worker = mill.work({ jobs: [job.run(() => {})], lanes: { general: 0, other: 1 } });
    await worker.ready;
    await worker.stop();

    const made = await store.type("schedules", "create", "nightly", "@daily", "cleanup");
    expect(made).toMatchObject({ code: 0 });
    const run = await store.type("schedules", "run", "nightly", "-o", "json");

    expect(await mill.jobs.get(JSON.parse(run.out).id)).toMatchObject({
      lane: "heavy",
      priority: 70,
      maxAttempts: 9,
    });
  });

  test("takes the options of its jobs, and a key that runs it once", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const options = ["--priority", "high", "--max-attempts", "2", "--key", "disk/1"];
    const tags = ["--tag", "site=main", "--tag", "team=data", "--tenant", "acme"];
    const create = ["create", "nightly", "@daily", "cleanup", ...options, ...tags];
    expect(await store.type("schedules", ...create)).toMatchObject({ code: 0 });
    const run = ["schedules", "run", "nightly", "--idempotency-key", "2026-11-02"];

    const [first, again] = [await store.type(...run), await store.type(...run)];

    expect(first).toMatchObject({ code: 0, err: "" });
    expect(again).toMatchObject({ code: 0, out: first.out });
    expect(again.err).toContain("already existed");
    expect(await mill.jobs.get(first.out.trim())).toMatchObject({
      tenant: "acme",
      priority: 50,
      maxAttempts: 2,
      concurrencyKey: "disk/1",
      tags: { site: "main", team: "data" },
    });
  });

  test("refuses attempts that are not a number", async () => {
    await using store = new TestStore();
    await store.mill;

    const create = ["create", "nightly", "@daily", "cleanup", "--max-attempts", "few"];
    expect(await store.type("schedules", ...create)).toMatchObject({
      code: 2,
      err: expect.stringContaining('"few" is not a whole number'),
    });
  });

  test("sets a start and an end, and removes them", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const bounds = ["--start", "2026-12-24T18:00:00Z", "--end", "2099-01-01T00:00:00Z"];
    await store.type("schedules", "create", "nightly", "@daily", "cleanup", ...bounds);
    await store.type("schedules", "update", "nightly", "--cron", "0 4 * * *");
    const { end } = await mill.schedules.get("nightly");
    expect(end).toEqual(new Date("2099-01-01T00:00:00Z"));

    const updated = await store.type("schedules", "update", "nightly", "--no-start", "--no-end");

    expect(updated).toMatchObject({ code: 0 });
    expect(await mill.schedules.get("nightly")).toMatchObject({ start: null, end: null });
  });

  test("refuses an impossible expression where it is written", async () => {
    await using store = new TestStore();

    const { code, err } = await store.type("schedules", "create", "x", "0 0 30 2 *", "cleanup");

    expect(code).toBe(2);
    expect(err).toContain("no month that it names has a day 30");
  });

  test("says what an expression means, without a store", async () => {
    const { out } = await type("schedules", "next", "0 9 * * mon", "--time-zone", "Asia/Tokyo");

    const [sentence, ...runs] = out.trim().split("\n");
    expect(sentence).toBe("every Monday at 09:00 Asia/Tokyo");
    expect(runs).toHaveLength(5);
  });

  test("names the code as the place to change what code owns", async () => {
    await using store = new TestStore();
    const job = defineJob({ type: "cleanup" }).run(() => {});
    const mill = await store.mill;
    await using worker = mill.work({
      jobs: [job],
      schedules: [schedule("nightly", { cron: "@daily" }, job)],
    });
    await worker.ready;
    await expect.poll(() => mill.schedules.list()).toHaveLength(1);

    const { code, err } = await store.type("schedules", "remove", "nightly");

    expect(code).toBe(1);
    expect(err).toContain("SCHEDULE_OWNED_BY_CODE");
    expect(err).toContain("mill.work");
  });
});
