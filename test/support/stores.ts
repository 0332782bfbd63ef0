/** Stores for tests: each opening is a database of its own, gone when the test ends. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeSqliteStore } from "../../src/store/sqlite/make.ts";
import type { JobStore } from "../../src/store/store.ts";
import { seededDice } from "./seeded-dice.ts";
import { virtualClock } from "./virtual-clock.ts";
import type { VirtualClock } from "./virtual-clock.ts";

export interface TestStore extends AsyncDisposable {
  /** An open handle. */
  readonly store: JobStore;
  /** The store's clock. Nothing else moves time. */
  readonly clock: VirtualClock;
  /** A further open handle on the same database, as another process would have. */
  another(): Promise<JobStore>;
  /** A handle on the same database that has not been opened yet. */
  unopened(): JobStore;
}

export type OpenStore = () => Promise<TestStore>;

/** Memory where the system offers it: what is tested here is not the disk. */
const ROOT = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export async function openSqlite(): Promise<TestStore> {
  const folder = await mkdtemp(join(ROOT, "millrace-"));
  const clock = virtualClock();
  const handles: JobStore[] = [];

  function unopened(): JobStore {
    const dice = seededDice(handles.length + 1);
    const handle = makeSqliteStore({ path: join(folder, "millrace.db") }, { clock, dice });
    handles.push(handle);
    return handle;
  }

  async function another(): Promise<JobStore> {
    const handle = unopened();
    await handle.open();
    return handle;
  }

  return {
    store: await another(),
    clock,
    another,
    unopened,
    async [Symbol.asyncDispose]() {
      await Promise.all(handles.map((handle) => handle.close()));
      await rm(folder, { recursive: true });
    },
  };
}
