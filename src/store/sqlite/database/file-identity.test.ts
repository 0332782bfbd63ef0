import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newJob } from "../../../../test/support/factories.ts";
import { add, stateOf } from "../../../../test/support/steps.ts";
import { virtualClock } from "../../../../test/support/virtual-clock.ts";
import { makeSqliteStore } from "../create.ts";
import { identityCheck } from "./file-identity.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "millrace-presence-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

describe("a database file", () => {
  test.each([
    ["deleted", (path: string) => rm(path)],
    ["replaced by another", replace],
  ])("that was %s while it was open takes nothing more, until it is reopened", async (_, harm) => {
    const path = join(folder, "jobs.db");
    const { store, clock } = await open(path);
    await add(store, {});

    await harm(path);
    await clock.advance(1_000);
    const refusal = { code: "STORE_FAILED", message: expect.stringContaining(path) };
    await expect(store.enqueue([newJob()])).rejects.toMatchObject(refusal);
    // At every write, not only once a second: what is written in between would be lost.
    await expect(store.enqueue([newJob()])).rejects.toMatchObject(refusal);
    await store.close();

    const again = await open(path);
    const [id] = await add(again.store, {});
    await again.clock.advance(1_000);
    await add(again.store, {});
    expect(await stateOf(again.store, id)).toBe("queued");
    await again.store.close();
  });

  test("that was put back takes jobs again, and has kept its jobs", async () => {
    const path = join(folder, "jobs.db");
    const { store, clock } = await open(path);
    const [first] = await add(store, {});
    renameSync(path, `${path}.away`);
    await clock.advance(1_000);
    await expect(store.enqueue([newJob()])).rejects.toMatchObject({ code: "STORE_FAILED" });

    renameSync(`${path}.away`, path);
    const [second] = await add(store, {});

    expect(await stateOf(store, first)).toBe("queued");
    expect(await stateOf(store, second)).toBe("queued");
    await store.close();
  });

  test("that is unchanged is never refused", async () => {
    const { store, clock } = await open(join(folder, "jobs.db"));

    for (let second = 0; second < 3; second += 1) {
      await clock.advance(1_000);
      await add(store, {});
    }

    expect((await store.count({}, 10)).count).toBe(3);
    await store.close();
  });
});

describe("a database in memory", () => {
  test("is never checked", () => {
    const check = identityCheck(":memory:", {
      monotonic: () => {
        throw new Error("the clock was read");
      },
    });

    expect(check).not.toThrow();
  });
});

async function open(path: string) {
  const clock = virtualClock();
  const store = makeSqliteStore({ path }, { clock });
  await store.open();
  return { store, clock };
}

/** As a restored backup, or a deployment that brings its own file, would. */
async function replace(path: string): Promise<void> {
  const other = await open(`${path}.other`);
  await other.store.close();
  renameSync(`${path}.other`, path);
}
