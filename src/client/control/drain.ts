/** `mill.drain` and `mill.running`. */
import type { DrainSettings, DrainTarget, RunningCount } from "../../api/control/drain.ts";
import { drainTargetOf } from "../../api/control/targets.ts";
import type { Clock } from "../../core/clock.ts";
import { isDrained, waitForDrain } from "../../core/control/drain.ts";
import { durationMs } from "../../core/duration.ts";
import { MillraceError } from "../../core/errors.ts";
import { checkRemark } from "../../jobs/check-text.ts";
import { drainTimedOut } from "../../core/control/drain-words.ts";
import { idOf } from "../../jobs/views.ts";
import type { JobStore } from "../../store/store.ts";
import type { RunTarget } from "../../store/types/records.ts";

/** The rows that one count reads, and the ids that it answers. */
const ROWS_MAX = 100_000;
const IDS_MAX = 20;
/** More claims cannot be under way: each has a connection of its own. */
const CLAIMS_MAX = 10_000;
const TIMEOUT = "10m";
const REASON = "drain";

export interface DrainParts {
  readonly store: JobStore;
  readonly clock: Clock;
  /** Aborts when the mill closes. */
  readonly closing: AbortSignal;
}

export async function drain(
  { store, clock, closing }: DrainParts,
  target: DrainTarget,
  options: DrainSettings = {},
): Promise<void> {
  const { reason = REASON, actor, timeout = TIMEOUT, signal, onProgress } = options;
  const what = runTargetOf("drain", target);
  const timeoutMs = durationMs(timeout, "drain: timeout");
  checkRemark("drain", "reason", reason);
  if (actor !== undefined) checkRemark("drain", "actor", actor);
  signal?.throwIfAborted();
  if (what.kind !== "worker") await store.pause(what, { reason, by: actor ?? null });
  else if (!(await store.quiet(what.name, { by: actor ?? null, reason })))
    throw unknownWorker(what.name);
  const last = await waitForDrain({
    clock,
    timeoutMs,
    // A store that is closed answers the next count with STORE_CLOSED.
    wake: closing,
    signal,
    count: (claims) => countOf(store, what, claims),
    onCount: ({ running, atLeast }) => onProgress?.({ running, atLeast }),
  });
  if (!isDrained(last)) throw drainTimedOut(what, last, timeoutMs);
}

export function countRunning(
  store: JobStore,
  target: DrainTarget,
  { claims }: { readonly claims?: readonly string[] } = {},
): Promise<RunningCount> {
  return countOf(store, runTargetOf("running", target), claims);
}

async function countOf(
  store: JobStore,
  target: RunTarget,
  claims: readonly string[] | undefined,
): Promise<RunningCount> {
  const known = claims === undefined ? {} : { claims: claims.slice(0, CLAIMS_MAX) };
  const found = await store.countRunning(target, { rows: ROWS_MAX, ids: IDS_MAX, ...known });
  const { jobs, isExact, ids } = found;
  return { running: jobs, atLeast: !isExact, ids, claims: found.claims };
}

function runTargetOf(verb: "drain" | "running", target: DrainTarget): RunTarget {
  const { kind, name } = drainTargetOf(verb, target);
  return kind === "worker" ? { kind, name: idOf(name, "worker") } : { kind, name };
}

function unknownWorker(id: string): MillraceError {
  return new MillraceError("WORKER_NOT_FOUND", `there is no worker ${id}`);
}
