/** `millrace types`, and what commands without the code of a type know about it. */
import { describe, expect, test } from "vitest";
import { defineJob } from "../../../src/index.ts";
import { TestStore } from "../command-line.ts";

const pay = defineJob({ type: "pay", lane: "fast", priority: 7, maxAttempts: 9 }).run(() => {});

describe("millrace types", () => {
  test("shows what the workers have declared", async () => {
    await using store = new TestStore();
    const none = await store.type("types");
    const mill = await store.mill;
    await using worker = mill.work({ jobs: [pay], appVersion: "2.1.0" });
    await worker.ready;

    const shown = await store.type("types");

    expect(none).toMatchObject({ code: 0, out: "" });
    expect(none.err).toContain("No worker has declared a type");
    expect(shown.out).toMatch(/^pay +fast +7 +9 +2 min +1 +2\.1\.0 /m);
    expect(await store.json("types")).toMatchObject([{ type: "pay", isDisputed: false }]);
    expect((await store.type("workers", "list")).out).toContain("2.1.0");
  });
});

describe("millrace types override", () => {
  test("sets settings until reset, and list shows both values", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const worker = mill.work({ jobs: [pay] });
    await worker.ready;
    await worker.stop();

    const set = await store.type(
      "types",
      "override",
      "pay",
      "--priority",
      "5",
      "--timeout",
      "none",
    );
    const listed = await store.type("types", "list");
    const job = await store.type("enqueue", "pay", "--no-jobs");
    const reset = await store.type("types", "reset", "pay");
    const again = await store.type("types", "reset", "pay");

    expect(set).toMatchObject({ code: 0, out: "The settings of the type pay are overridden.\n" });
    expect(listed.out).toMatch(/^pay +fast +5 \(7\) +9 +none \(2 min\) /m);
    expect(await mill.jobs.get(job.out.trim())).toMatchObject({ priority: 5, maxAttempts: 9 });
    expect(reset.out).toBe("What workers declare about the type pay counts again.\n");
    expect(again.out).toBe("No operator has overridden the type pay.\n");
  });

  test.each([
    [["unknown", "--priority", "5"], "no worker has declared the type unknown"],
    [["pay"], "name lane, priority, maxAttempts or timeout"],
    [["pay", "--priority", "x"], "is not a whole number"],
  ])("refuses %j", async (args, message) => {
    await using store = new TestStore();

    const { code, err } = await store.type("types", "override", ...args);

    expect(code).not.toBe(0);
    expect(err).toContain(message);
  });
});

describe("millrace enqueue --no-jobs", () => {
  test("takes the settings that a worker has declared", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const worker = mill.work({ jobs: [pay] });
    await worker.ready;
    await worker.stop();

    const declared = await store.type("enqueue", "pay", "--no-jobs");
    const unknown = await store.type("enqueue", "fax", "--no-jobs");

    expect(declared.err).toContain("and the settings of its workers apply");
    expect(unknown.err).toContain("and the default settings apply");
    const job = await mill.jobs.get(declared.out.trim());
    expect(job).toMatchObject({ lane: "fast", priority: 7, maxAttempts: 9 });
    expect(await mill.jobs.get(unknown.out.trim())).toMatchObject({ lane: "general" });
  });
});

describe("millrace doctor", () => {
  test("names a type that living workers have declared differently", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    await using old = mill.work({ jobs: [pay], appVersion: "1" });
    await old.ready;
    const agreed = await store.type("doctor");
    const slow = defineJob({ type: "pay" }).run(() => {});
    await using young = mill.work({ jobs: [slow], appVersion: "2" });
    await young.ready;

    const { code, out } = await store.type("doctor");

    expect(agreed.out).not.toContain("declarations");
    expect(code).toBe(1);
    expect(out).toContain(
      "FINDING  types: the 2 workers of type pay have 2 declarations, the newest from version 2",
    );
  });

  test("names a type whose living workers state different limits", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const withLimit = (concurrency: number) =>
      defineJob({ type: "pay", limits: { concurrency } }).run(() => {});
    await using old = mill.work({ jobs: [withLimit(5)] });
    await using young = mill.work({ jobs: [withLimit(6)] });
    await Promise.all([old.ready, young.ready]);

    const { code, out } = await store.type("doctor");

    expect(code).toBe(1);
    expect(out).toContain("FINDING  types: the 2 workers of type pay have 2 declarations");
  });
});
