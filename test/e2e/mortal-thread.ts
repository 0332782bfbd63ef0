/**
 * What the thread of a heartbeat opens: the store of a file, and a thread that dies when it has
 * beaten so often, as one would that ran out of memory.
 */
import { makeThreadStore as makeSqliteThreadStore } from "../../src/store/sqlite/make.ts";
import type { JobStore, ThreadEntry } from "../../src/store/store.ts";

interface MortalOptions {
  readonly path: string;
  readonly beats: number;
}

/** A thread that dies after so many beats. */
export function mortalThread(path: string, beats: number): ThreadEntry {
  return { module: import.meta.url, options: { path, beats } };
}

/** @public by its name: the thread imports this module by the address in `module`. */
export function makeThreadStore({ path, beats }: MortalOptions): JobStore {
  const store = makeSqliteThreadStore({ path });
  const renew = store.renew.bind(store);
  let left = beats;
  store.renew = (worker, leaseMs) => {
    // In a thread this ends the thread alone.
    if (left === 0) process.exit(1);
    left -= 1;
    return renew(worker, leaseMs);
  };
  return store;
}
