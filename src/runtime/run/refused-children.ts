/** Children that their parent asked for, and that never came into being. */
import { refusalOf } from "../../jobs/enqueue-result.ts";
import { MillraceError } from "../../core/errors.ts";
import type { ErrorClass } from "../../core/job.ts";
import type { Logger } from "../../api/context.ts";
import type { JobStore } from "../../store/store.ts";
import type { NewJob, RefusedChild } from "../../store/types/jobs-and-runs.ts";

/** A child that gave way to the holder of its key is not there; its parent believes that it is. */
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
 * A child was refused. Whatever asked for it, a phase or a whole run, has failed with that, and
 * would again.
 */
export class ChildRefused extends MillraceError {
  override readonly name: string;

  constructor(answer: RefusedChild, children: readonly NewJob[]) {
    const { code, child, holder } = answer;
    const { type, idempotency } = children.find(({ id }) => id === child)!;
    super(
      code,
      `${refusalOf(answer, { type, idempotency }, "child")}, so that nothing is stored of what ` +
        `asked for it: ${CURES[code]}`,
      {
        details: {
          type,
          child,
          ...(holder === child ? {} : { holder }),
          ...(idempotency === null ? {} : { key: idempotency.key }),
        },
      },
    );
    // The name is all that is kept of an error besides its words, and stands above its stack.
    this.name = code;
    Error.captureStackTrace(this, ChildRefused);
  }

  get "~class"(): ErrorClass {
    return "non_retryable";
  }
}

const CURES: Readonly<Record<RefusedChild["code"], string>> = {
  AFTER_UNKNOWN:
    "name jobs that exist, and give no idempotency or dedup key to children that those of later " +
    "phases run after",
  ID_CONFLICT: "give it an id of its own",
  IDEMPOTENCY_CONFLICT: "use a new key for a different job",
  IDEMPOTENCY_KEY_USED:
    'use a new key, or onConflict "return-existing" where the job that holds it will do',
  STORE_REFUSED: "correct its payload or its options",
};
