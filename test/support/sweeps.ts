/** Sweeps over expired jobs. */
import assert from "node:assert/strict";
import type { JobRecord, ExpiredPage, Periods } from "../../src/store/types/records.ts";
import type { JobStore } from "../../src/store/store.ts";

/** More than any sweep of a test needs. */
const PAGES_MAX = 500;

/** The pages of one sweep, to its end. Some may be empty. */
export async function pagesOf(
  store: JobStore,
  periods: Periods,
  {
    each,
    ...page
  }: Omit<ExpiredPage, "from"> & {
    readonly each?: (jobs: readonly JobRecord[]) => Promise<unknown>;
  },
): Promise<readonly (readonly JobRecord[])[]> {
  const pages: (readonly JobRecord[])[] = [];
  for (let from: ExpiredPage["from"] = null; pages.length < PAGES_MAX;) {
    const { jobs, next } = await store.expired(periods, { ...page, from });
    assert.ok(jobs.length <= page.limit, "more than asked");
    pages.push(jobs);
    await each?.(jobs);
    if (next === null) return pages;
    from = next;
  }
  assert.fail(`no end after ${PAGES_MAX} pages`);
}
