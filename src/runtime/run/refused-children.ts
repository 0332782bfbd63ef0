/** Child jobs that were requested but not enqueued. */
import { refusalOf } from "../../jobs/enqueue-result.ts";
import { MillraceError } from "../../core/errors.ts";
import type { ErrorClass } from "../../core/job.ts";
import type { Logger } from "../../api/context.ts";
import type { JobStore } from "../../store/store.ts";
import type { NewJob, RefusedChild } from "../../store/types/jobs-and-runs.ts";

/** Warns about children that were not enqueued because another job holds their key. */
export async function warnAboutDuplicates(
  { store, logger }: { readonly store: Pick<JobStore, "get">; readonly logger: Logger },
  children: readonly NewJob[],
): Promise<void> {
  for (const { id, type, parentId, idempotency, dedup } of children) {
    const key = idempotency?.key ?? dedup?.key;
    if (key === undefined) continue;
    // The id of a child that gave way names the holder, or no job if the holder was removed.
    const named = await store.get(id).catch(() => undefined);
    if (named === undefined || named?.id === id) continue;
    logger.warn("child not enqueued: another job holds its key", {
      child_id: id,
      holder_id: named?.id ?? null,
      parent_id: parentId,
      type,
      key,
    });
  }
}

/** A child was refused, so the unit, phase or run that requested it has failed. Not retryable. */
export class ChildNotEnqueuedError extends MillraceError {
  override readonly name: string;

  constructor(answer: RefusedChild, children: readonly NewJob[]) {
    const { code, child, holder } = answer;
    const { type, idempotency } = children.find(({ id }) => id === child)!;
    super(
      code,
      `${refusalOf(answer, { type, idempotency }, "child")}, so nothing of the unit, phase or ` +
        `run that requested it was stored: ${FIXES[code]}`,
      {
        details: {
          type,
          child,
          ...(holder === child ? {} : { holder }),
          ...(idempotency === null ? {} : { key: idempotency.key }),
        },
      },
    );
    // Stored errors keep the name, not the code. The stack begins with the name.
    this.name = code;
    Error.captureStackTrace(this, ChildNotEnqueuedError);
  }

  get "~class"(): ErrorClass {
    return "non_retryable";
  }
}

const FIXES: Readonly<Record<RefusedChild["code"], string>> = {
  AFTER_UNKNOWN:
    "name jobs that exist; a child exists when the unit or phase that enqueued it has ended",
  ID_CONFLICT: "use another id",
  IDEMPOTENCY_CONFLICT: "use a new key for a different job",
  IDEMPOTENCY_KEY_USED:
    'use a new key, or onConflict "return-existing" to use the job that holds it',
  INTAKE_CLOSED: "open the intake",
  QUOTA_EXCEEDED: "enqueue the job later, or raise the quota of the tenant",
  PAYLOAD_OVER_QUOTA: "shorten the payload, or raise the quota of the tenant",
  STORE_REFUSED: "correct the payload or the options of the child",
};
