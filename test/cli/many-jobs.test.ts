/** Commands on a store with more jobs than they count or examine. */
import { describe, expect, test } from "vitest";
import { defineJob, typed } from "../../src/index.ts";
import { TestStore } from "./command-line.ts";

const COUNT_MAX = 10_000;
/** The size up to which doctor reads a file as a whole. */
const FILE_MB_MAX = 32;

const note = defineJob({ type: "note" });
const large = defineJob({ type: "large", payload: typed<string>() });

describe("with more jobs than are counted", () => {
  test("stats and doctor say at least", async () => {
    await using store = new TestStore();
    await fill(store, COUNT_MAX);
    expect((await store.type("stats")).out).toMatch(/queued +10000\n/);
    expect(await store.json("stats")).toMatchObject({ queued: COUNT_MAX, atLeast: [] });

    await fill(store, 1);

    expect((await store.type("stats")).out).toMatch(/queued +at least 10000\n/);
    expect(await store.json("stats")).toMatchObject({ queued: COUNT_MAX, atLeast: ["queued"] });
    expect((await store.type("doctor")).out).toContain("0 scheduled, at least 10000 queued");
  });
});

describe("doctor on a large file", () => {
  test("names the checks that were cut short, and the command that reads everything", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    await fill(store, COUNT_MAX + 1);
    const text = "x".repeat(999_000);
    for (let mb = 0; mb < FILE_MB_MAX * 1.1; mb += 1) await mill.enqueue(large, text);

    const quick = await store.type("doctor");
    const deep = await store.type("doctor", "--deep");
    const checks = JSON.parse((await store.type("doctor", "-o", "json")).out);

    expect(quick.out).toMatch(/^PART {5}cut short: ready has more than 5000 rows.*place against/m);
    expect(quick.out).toContain("millrace doctor --deep examines all rows");
    expect(quick.out).toMatch(/invariants: \d+ hold; \d+ more with --deep/);
    expect(quick.out).toContain("checked for damage by --deep");
    expect(deep.out).not.toContain("PART");
    expect(deep.out).toContain("not damaged, and every job has one place");
    expect(checks).toContainEqual(
      expect.objectContaining({
        name: "cut short",
        cutShort: true,
        table: "ready",
        examined: 5_000,
        checks: expect.arrayContaining(["place against job"]),
        fix: null,
      }),
    );
  });
});

async function fill(store: TestStore, count: number): Promise<void> {
  const mill = await store.mill;
  for (let left = count; left > 0; left -= 1_000) {
    await mill.enqueueMany(Array.from({ length: Math.min(left, 1_000) }, () => note.of()));
  }
}
