/** Makes dead letters, and checks what an operation has made of them. */
import type { JobStore } from "../../../../src/store/store.ts";
import { failedWith, newJobs } from "../../../../test/support/factories.ts";
import { joinWorker, settleAll, take } from "../../../../test/support/steps.ts";

const CHUNK = 500;
/** Longer than the show takes: no heartbeat is sent. */
export const LONG = { leaseMs: 3_600_000 };

/** Jobs of a type that have failed for good. */
export async function makeLetters(store: JobStore, type: string, count: number): Promise<void> {
  const worker = await joinWorker(store, LONG);
  for (let made = 0; made < count; made += CHUNK) {
    const size = Math.min(CHUNK, count - made);
    const once = { idempotency: null, type, lane: "letters" };
    await store.enqueue(newJobs(size, once));
    const batch = await take(store, { worker, limit: size, lanes: ["letters"] });
    await settleAll(store, batch, failedWith());
  }
}

export interface Successors {
  readonly jobs: number;
  /** Letters with more than one successor. */
  readonly doubled: number;
}

/** The successors that wait, page by page. */
export async function countSuccessors(store: JobStore, type: string): Promise<Successors> {
  const seen = new Set<string>();
  let [jobs, doubled] = [0, 0];
  let after: number | undefined;
  for (;;) {
    const page = { limit: 1_000, ...(after === undefined ? {} : { after }) };
    const listing = await store.list({ type, states: ["queued"] }, page);
    for (const { retryOf } of listing.jobs) {
      jobs += 1;
      if (retryOf === null || seen.has(retryOf)) doubled += 1;
      else seen.add(retryOf);
    }
    if (listing.next === null) return { jobs, doubled };
    after = listing.next;
  }
}

/** The items of an operation: how many, and how many different letters they name. */
export async function countItems(
  store: JobStore,
  id: string,
): Promise<{ readonly items: number; readonly letters: number }> {
  const letters = new Set<string>();
  let after = 0;
  for (;;) {
    const page = await store.operationItems(id, { after, limit: 1_000 });
    for (const item of page) letters.add(item.id);
    if (page.length < 1_000) return { items: after + page.length, letters: letters.size };
    after = page.at(-1)?.n ?? after;
  }
}
