/** Children that their parent asked for, and that never came into being. */
import type { Logger } from "../face/context.ts";
import type { JobStore, NewJob } from "../store/store.ts";

/** A child whose key another job holds is not there; its parent believes that it is. */
export async function warnOfMissing(
  { store, logger }: { readonly store: Pick<JobStore, "get">; readonly logger: Logger },
  children: readonly NewJob[],
): Promise<void> {
  for (const { id, type, parentId, idempotency, dedup } of children) {
    if (idempotency === null && dedup === null) continue;
    const child = await store.get(id).catch(() => undefined);
    if (child !== null) continue;
    logger.warn("a child was not enqueued: another job holds its key", {
      child_id: id,
      parent_id: parentId,
      type,
      key: idempotency?.key ?? dedup?.key,
    });
  }
}
