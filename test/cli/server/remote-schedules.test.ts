/** `millrace schedules` does the same through a server as on its database. */
import { defineJob, schedule } from "millrace";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Typed } from "../command-line.ts";
import { comparable, ServedStore } from "./served-store.ts";

let store: ServedStore;
beforeAll(async () => {
  store = await ServedStore.open();
});
afterAll(() => store[Symbol.asyncDispose]());

const [LOCAL, REMOTE] = ["nightly-1", "a/b ü"];
const WHEN = ["--time-zone", "Europe/Berlin", "--missed", "3", "--overlap", "skip"];
const WHY = ["--reason", "the logs grow"];
const PAYLOAD = ["--payload", '{"table":"logs"}'];

/** The commands of the life of a schedule, and how they end. */
const LIFE: readonly (readonly [code: number, ...words: string[]])[] = [
  [0, "create", "NAME", "0 3 * * *", "cleanup", ...PAYLOAD, ...WHEN, ...WHY],
  [1, "create", "NAME", "0 4 * * *", "cleanup", ...WHY],
  [2, "create", "other", "0 0 30 2 *", "cleanup"],
  [0, "update", "NAME", "--cron", "0 4 * * mon-fri", "--jitter", "10s", ...WHY],
  [2, "update", "NAME", "--time-zone", "Mars/Olympus", ...WHY],
  [0, "update", "NAME", "--end", "2099-01-01T00:00:00Z", ...WHY],
  [0, "update", "NAME", "--no-start", "--no-end", ...WHY],
  [0, "pause", "NAME", "a bug"],
  [0, "show", "NAME"],
  [0, "resume", "NAME"],
  [0, "run", "NAME"],
  [0, "show", "NAME"],
  [0, "remove", "NAME", ...WHY],
  [1, "show", "NAME"],
  [1, "update", "NAME", "--cron", "0 5 * * *", ...WHY],
  [1, "pause", "NAME", "a bug"],
  [1, "resume", "NAME"],
  [1, "run", "NAME"],
  [1, "remove", "NAME", ...WHY],
];

describe("millrace schedules, through a server as on its database (000-54)", () => {
  test("creates, shows, changes, pauses, resumes, runs and removes a schedule", async () => {
    for (const [code, ...words] of LIFE) {
      const [one, other] = [LOCAL, REMOTE].map((name) => {
        return words.map((word) => (word === "NAME" ? name : word));
      });
      const local = await store.local("schedules", ...one!);
      const remote = await store.remote("schedules", ...other!);

      expect({ words, ...shown(remote, REMOTE) }).toEqual({ words, ...shown(local, LOCAL) });
      expect({ words, code: remote.code }).toEqual({ words, code });
    }
  });

  test("stores the same job, with the settings that a worker has declared", async () => {
    const { mill } = store;
    const job = defineJob({ type: "backup", lane: "heavy", priority: 70, maxAttempts: 9 });
    const worker = mill.work({ jobs: [job.run(() => {})], lanes: { general: 0, other: 1 } });
    await worker.ready;
    await worker.stop();
    const own = ["--max-attempts", "2", "--key", "disk/1", "--tag", "site=main"];
    const create = ["@daily", "backup", ...PAYLOAD, ...own, ...WHY];

    await store.local("schedules", "create", "of-local", ...create);
    await store.remote("schedules", "create", "of-remote", ...create);

    for (const name of ["of-local", "of-remote"]) {
      const { id } = await mill.schedules.runNow(name);
      expect(await mill.jobs.get(id)).toMatchObject({
        lane: "heavy",
        priority: 70,
        maxAttempts: 2,
        concurrencyKey: "disk/1",
        tags: { site: "main" },
        payload: { table: "logs" },
      });
      await mill.schedules.remove(name);
    }
  });

  test("runs a schedule once for each idempotency key", async () => {
    const { mill } = store;
    await mill.schedules.create(
      schedule("once", { cron: "@daily" }, defineJob({ type: "cleanup" })),
    );
    const run = ["schedules", "run", "once", "--idempotency-key", "monday"];

    const [first, again] = [await store.remote(...run), await store.remote(...run)];
    const local = await store.local(...run);

    expect(first).toMatchObject({ code: 0, err: "" });
    expect(again).toMatchObject({ out: first.out, err: expect.stringContaining("already") });
    expect(local).toEqual(again);
    await mill.schedules.remove("once");
  });

  test("lists schedules, and as JSON with all their values", async () => {
    const job = defineJob({ type: "cleanup" });
    const end = new Date("2099-01-01T00:00:00Z");
    await store.mill.schedules.create(schedule("ends", { cron: "@daily", end }, job));
    await store.mill.schedules.create(schedule("weekly", { cron: "@weekly" }, job));
    await store.mill.schedules.runNow("weekly");

    for (const words of [
      ["list"],
      ["list", "-o", "json"],
      ["list", "--limit", "1"],
      ["show", "ends", "-o", "json"],
      ["show", "weekly", "-o", "json"],
    ]) {
      const { local, remote } = await store.both("schedules", ...words);
      expect(remote).toEqual(local);
      expect(remote).toMatchObject({ code: 0, out: expect.stringMatching(/ends|weekly|a\/b/) });
    }
  });

  test("shows the history of a schedule", async () => {
    const job = defineJob({ type: "cleanup" });
    await store.mill.schedules.create(schedule("told", { cron: "@daily" }, job));
    await store.mill.schedules.runNow("told");

    for (const words of [[], ["-o", "json"], ["--before", "2020-01-01T00:00:00Z"]]) {
      const { local, remote } = await store.both("schedules", "history", "told", ...words);
      expect(remote).toEqual(local);
      expect(remote).toMatchObject({ code: 0 });
    }
  });

  test("names the person of the token who has paused a schedule", async () => {
    const job = defineJob({ type: "cleanup" });
    await store.mill.schedules.create(schedule("paused", { cron: "@daily" }, job));

    await store.remote("schedules", "pause", "paused", "the disk is full");

    expect(await store.mill.schedules.get("paused")).toMatchObject({
      pausedBy: "ada",
      pauseReason: "the disk is full",
    });
  });

  test("is refused where the code owns the schedule", async () => {
    const job = defineJob({ type: "owned" }).run(() => {});
    const nightly = schedule("nightly", { cron: "@daily" }, job);
    await using worker = store.mill.work({ jobs: [job], schedules: [nightly] });
    await worker.ready;
    await expect
      .poll(() => store.mill.schedules.list())
      .toContainEqual(expect.objectContaining({ name: "nightly" }));

    for (const words of [
      ["update", "nightly", "--cron", "0 4 * * *", ...WHY],
      ["remove", "nightly", ...WHY],
    ]) {
      const { local, remote } = await store.both("schedules", ...words);
      expect(remote).toEqual(local);
      expect(remote).toMatchObject({ code: 1, err: expect.stringContaining("OWNED_BY_CODE") });
    }
  });

  test("wants a reason for a change of the plan", async () => {
    for (const words of [
      ["create", "unexplained", "@daily", "cleanup"],
      ["update", "paused", "--cron", "@hourly"],
      ["remove", "paused"],
    ]) {
      const { code, err } = await store.remote("schedules", ...words);
      expect({ words, code }).toEqual({ words, code: 2 });
      expect(err).toContain("Give the reason with --reason.");
    }
  });

  test("is refused for a token without the role", async () => {
    const { secret } = await store.mill.tokens.create({
      kind: "person",
      name: "eve",
      roles: ["viewer"],
    });

    for (const words of [
      ["create", "mine", "@daily", "cleanup", ...WHY],
      ["run", "paused"],
      ["remove", "paused", ...WHY],
    ]) {
      const { code, err } = await store.remoteAs(secret, "schedules", ...words);
      expect({ words, code }).not.toEqual({ words, code: 0 });
      expect(err).toContain("This needs a person with the role");
    }
  });
});

/** Without ids and instants, and without the person who typed it. */
function shown(typed: Typed, name: string): Typed {
  const { code, out, err } = comparable(typed);
  const masked = (text: string): string =>
    text
      .replaceAll(encodeURIComponent(name), "NAME")
      .replaceAll(name, "NAME")
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9A-HJKMNP-TV-Z]{26}\b/g, "ID")
      .replaceAll(/^((?:paused|created) by +)\S+$/gm, "$1ACTOR")
      .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, "INSTANT")
      .replaceAll(/ {2,}|-{2,}/g, "  ");
  return { code, out: masked(out), err: masked(err) };
}
