/** `mill.drain` and `mill.running`. */
import type { Drained, DrainSettings, DrainTarget, RunningCount } from "../../api/control/drain.ts";
import { drainTargetOf } from "../../api/control/targets.ts";
import type { Clock } from "../../core/clock.ts";
import { isCrashGate } from "../../core/crashes.ts";
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
): Promise<Drained> {
  const { reason = REASON, actor, timeout = TIMEOUT, signal, onProgress } = options;
  const what = runTargetOf("drain", target);
  const timeoutMs = durationMs(timeout, "drain: timeout");
  checkRemark("drain", "reason", reason);
  if (actor !== undefined) checkRemark("drain", "actor", actor);
  signal?.throwIfAborted();
  const keptPause = await close(store, what, { reason, by: actor ?? null });
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
  return { keptPause };
}

/** A pause that ends by itself, or a crash gate, would let jobs start during the drain. */
async function close(
  store: JobStore,
  target: RunTarget,
  act: { readonly reason: string; readonly by: string | null },
): Promise<Drained["keptPause"]> {
  if (target.kind === "worker") {
    if (await store.quiet(target.name, act)) return null;
    throw unknownWorker(target.name);
  }
  const { kind, name } = target;
  const found = (await store.gates()).find((gate) => gate.kind === kind && gate.name === name);
  if (found?.until === null && !isCrashGate(kind, found.by)) {
    return { reason: found.reason, pausedBy: found.by };
  }
  await store.pause(target, act);
  return null;
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
