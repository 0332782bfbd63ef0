/** What the store says at the end. */
import type { Millrace } from "millrace";
import type { StoredJob } from "./check.ts";

const PAGE = 200;

/** Every job of the store with its attempts. */
export async function readStore(mill: Millrace): Promise<ReadonlyMap<string, StoredJob>> {
  const stored = new Map<string, StoredJob>();
  for (let after: string | null | undefined; after !== null;) {
    const page = await mill.jobs.list({ limit: PAGE, ...(after !== undefined && { after }) });
    for (const { id, state, attempts: charged } of page.jobs) {
      const attempts = await mill.jobs.attempts(id);
      stored.set(id, {
        state,
        charged,
        attempts: attempts.map(({ fence, outcome, finishedAt, crashes }) => ({
          fence,
          outcome,
          crashes,
          finishedAt: finishedAt.getTime(),
        })),
      });
    }
    after = page.next;
  }
  return stored;
}
