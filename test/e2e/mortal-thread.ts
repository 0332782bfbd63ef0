/**
 * What the thread of a heartbeat opens: the store of a file, which cannot be opened at first as if
 * its server were away, and a thread that dies when it has beaten so often, as one would that ran
 * out of memory.
 */
import { makeThreadStore as makeSqliteThreadStore } from "../../src/store/sqlite/thread-store.ts";
import type { ThreadStore } from "../../src/store/store.ts";
import type { Verb } from "../../src/store/verbs.ts";
import type { ThreadEntry } from "../../src/store/types/jobs-and-runs.ts";

interface MortalOptions {
  readonly path: string;
  readonly beats: number;
  /** How often the store cannot be opened. */
  readonly refusals: number;
  /** The verb that is never answered after the beats. Null: the thread dies then. */
  readonly hangsAt: Verb | null;
  /** The look for overdue runs fails. */
  readonly isBlind?: boolean;
}

let refused = 0;

/** A thread that dies after so many beats. */
export function mortalThread(path: string, beats: number): ThreadEntry {
  return { module: import.meta.url, options: { path, beats, refusals: 0, hangsAt: null } };
}

/** A thread that hears no answer to this verb after so many beats. */
export function hangingThread(path: string, beats: number, hangsAt: Verb): ThreadEntry {
  return { module: import.meta.url, options: { path, beats, refusals: 0, hangsAt } };
}

/** A thread that cannot read which runs are overdue. */
export function blindThread(path: string): ThreadEntry {
  const options = { path, beats: Infinity, refusals: 0, hangsAt: null, isBlind: true };
  return { module: import.meta.url, options };
}

/** A thread whose store is away so often before it can be opened. */
export function lateThread(path: string, refusals: number): ThreadEntry {
  return { module: import.meta.url, options: { path, beats: Infinity, refusals, hangsAt: null } };
}

/** @public by its name: the thread imports this module by the address in `module`. */
export function makeThreadStore(options: MortalOptions): ThreadStore {
  const { path, beats, refusals, hangsAt, isBlind = false } = options;
  const store = makeSqliteThreadStore({ path });
  const isAway = refused < refusals;
  if (isAway) refused += 1;
  let left = beats;
  return {
    ...store,
    async open() {
      if (isAway) throw new Error("the server is starting up");
      await store.open();
    },
    async renew(...args) {
      // In a thread this ends the thread alone.
      if (left <= 0 && hangsAt === null) process.exit(1);
      left -= 1;
      return left < 0 && hangsAt === "renew" ? new Promise(() => {}) : store.renew(...args);
    },
    async overdue(...args) {
      if (isBlind) throw new Error("a row cannot be read");
      return left <= 0 && hangsAt === "overdue" ? new Promise(() => {}) : store.overdue(...args);
    },
  };
}
