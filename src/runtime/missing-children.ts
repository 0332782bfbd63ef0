/** Children that their parent asked for, and that never came into being. */
import { MillraceError } from "../core/errors.ts";
import type { ErrorClass } from "../core/job.ts";
import type { Logger } from "../face/context.ts";
import type { JobStore, NewJob, Refusal } from "../store/store.ts";

/** A child whose key another job holds is not there; its parent believes that it is. */
export async function warnOfMissing(
  { store, logger }: { readonly store: Pick<JobStore, "get">; readonly logger: Logger },
  children: readonly NewJob[],
): Promise<void> {
  for (const { id, type, parentId, idempotency, dedup } of children) {
    const key = idempotency?.key ?? dedup?.key;
    if (key === undefined) continue;
    const child = await store.get(id).catch(() => undefined);
    if (child !== null) continue;
    logger.warn("a child was not enqueued: another job holds its key", {
      child_id: id,
      parent_id: parentId,
      type,
      key,
    });
  }
}

/**
 * A child was to run after a job that there is not. Whatever asked for it, a phase or a whole run,
 * has failed with that, and would again.
 */
export class StrandedChild extends MillraceError {
  static {
    // The name is all that is kept of an error besides its words.
    this.prototype.name = "AFTER_UNKNOWN";
  }

  constructor({ child, missing }: Exclude<Refusal, string>, children: readonly NewJob[]) {
    const type = children.find(({ id }) => id === child)?.type;
    super(
      "AFTER_UNKNOWN",
      `a child of type "${type}" is to run after ${missing}, and there is no such job, so that ` +
        "nothing is stored of what asked for it: name jobs that exist, and give no idempotency " +
        "or dedup key to children that those of later phases run after",
      { details: { type, child, holder: missing } },
    );
  }

  get "~class"(): ErrorClass {
    return "non_retryable";
  }
}
