import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { jobqueue } from "./core/presets.ts";
import type { Json } from "./core/payload.ts";
import { defineJob, typed } from "./face/define.ts";
import { openMillrace } from "./open.ts";
import { makeSqliteStore } from "./store/sqlite/make.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "millrace-open-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

const anything = defineJob({ type: "anything", payload: typed<Json>() });

describe("openMillrace", () => {
  test("gives one instance for the same file, until everybody has closed it", async () => {
    const url = `sqlite:${join(folder, "jobs.db")}`;
    const [first, second] = await Promise.all([openMillrace(url), openMillrace(url)]);
    expect(second).toBe(first);

    await first.close();
    const third = await openMillrace(url);
    expect(third).toBe(first);
    await second.close();
    await third.enqueue(anything, 1);
    await third.close();

    await expect(third.enqueue(anything, 1)).rejects.toMatchObject({ code: "STORE_CLOSED" });
    const anew = await openMillrace(url);
    expect(anew).not.toBe(first);
    await anew.close();
  });

  test("takes a store that was made before", async () => {
    const store = makeSqliteStore({ path: ":memory:" });
    await using mill = await openMillrace(store);

    const job = await mill.enqueue(anything, { deep: [1, null, "x"] });

    expect((await mill.jobs.get(job.id)).payload).toEqual({ deep: [1, null, "x"] });
  });

  test("gives jobs the numbers of its preset (001-26, C-05)", async () => {
    await using mill = await openMillrace("sqlite::memory:", { preset: jobqueue });
    const failing = defineJob({ type: "failing" }).run(() => {
      throw new Error("nobody classified me");
    });
    await using worker = mill.work({ jobs: [failing] });
    await worker.ready;

    const finished = await mill.wait(await mill.enqueue(failing));

    expect(finished.state).toBe("failed");
    expect((await mill.jobs.get(finished.id)).attempts).toBe(1);
  });

  test("refuses what is neither a URL nor a store", async () => {
    const odd: any = {};

    await expect(openMillrace(odd)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(openMillrace("jobs.db")).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});
