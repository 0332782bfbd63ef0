/** Children that their parent asked for, and that never came into being. */
import type { Logger } from "../face/context.ts";
import type { JobStore, NewJob } from "../store/store.ts";

const NAMED_MAX = 10;

/**
 * A child whose key another job holds, or that was to run after a job that there is not, is not
 * there; its parent believes that it is.
 */
export async function warnOfMissing(
  { store, logger }: { readonly store: Pick<JobStore, "get">; readonly logger: Logger },
  children: readonly NewJob[],
): Promise<void> {
  for (const { id, type, parentId, idempotency, dedup, after } of children) {
    const key = idempotency?.key ?? dedup?.key;
    if (key === undefined && after.length === 0) continue;
    const child = await store.get(id).catch(() => undefined);
    if (child !== null) continue;
    logger.warn(`a child was not enqueued: ${reasonOf(key, after)}`, {
      child_id: id,
      parent_id: parentId,
      type,
      ...(key === undefined ? {} : { key }),
      ...(after.length === 0 ? {} : { after: after.slice(0, NAMED_MAX) }),
    });
  }
}

function reasonOf(key: string | undefined, after: readonly string[]): string {
  if (after.length === 0) return "another job holds its key";
  if (key === undefined) return "there is no job of those that it is to run after";
  return "another job holds its key, or there is no job of those that it is to run after";
}
