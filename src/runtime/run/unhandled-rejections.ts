/**
 * Unhandled rejections in handlers. Node would end the process, and with it all other jobs that run
 * here. While a worker runs, such a rejection is logged with its job instead.
 *
 * The async context of the listener tells the job. On Node 24 that is the context in which the
 * promise was rejected, on Node 22 the context in which it was made. They differ only for a bare
 * promise that code outside of the handler rejects: Node 24 does not assign that one to the job. A
 * promise that is awaited, or made by an async function, belongs to its handler on both versions.
 *
 * Rejections outside of handlers behave as without this listener: if there is no other listener,
 * this one is removed and the error is rejected again, so that Node applies its configured mode.
 */
import type { Logger } from "../../api/context.ts";
import { currentRun, type CurrentRun } from "../../jobs/async-context.ts";
import { isInstance } from "../../lib/is-instance.ts";
import { soon } from "../../lib/system.ts";
import type { ClaimedJob } from "../../store/types/jobs-and-runs.ts";
import { RunAborted } from "../notes/run-notes.ts";

const EVENT = "unhandledRejection";
/** In these modes Node ignores whether there are listeners. */
const MODES_WITHOUT_LISTENERS: readonly unknown[] = ["none", "strict", "warn"];

/** The number of running workers in this process. */
let workers = 0;

/** Counts one more worker; all workers share one listener. Returns the function to stop. */
export function listenForRejections(): () => void {
  workers += 1;
  listen();
  return () => {
    workers -= 1;
    if (workers === 0) process.off(EVENT, onRejection);
  };
}

function listen(): void {
  if (workers > 0 && !process.listeners(EVENT).includes(onRejection))
    process.on(EVENT, onRejection);
}

function onRejection(error: unknown): void {
  const run = currentRun();
  if (run?.rejected !== undefined) {
    run.rejected(error);
    return;
  }
  const hasOthers = process.listenerCount(EVENT) > 1;
  // Later, because other rejections of this turn may belong to handlers.
  if (!hasOthers && nodeAsksFirst()) process.nextTick(rejectAgain, error);
}

/** Whether Node acts on a rejection only if there is no listener. */
function nodeAsksFirst(): boolean {
  const options = [process.env["NODE_OPTIONS"] ?? "", ...process.execArgv].join(" ");
  const modes = [...options.matchAll(/--unhandled-rejections[= ]([\w-]+)/g)];
  return !MODES_WITHOUT_LISTENERS.includes(modes.at(-1)?.[1]);
}

function rejectAgain(reason: unknown): void {
  process.off(EVENT, onRejection);
  void Promise.reject(reason);
  // A handler of uncaught exceptions may have kept the process alive: the workers still run.
  soon(listen);
}

/**
 * The current run in the async context of the handler. Not the Execution itself: a connection or a
 * timer made by the handler would keep the payload in memory.
 */
export function currentRunOf(
  { id, type, n, correlationId, tenant }: ClaimedJob,
  logger: Logger,
): CurrentRun {
  return {
    job: { id, correlationId, tenant },
    rejected(error) {
      const level = isInstance(error, RunAborted) ? "debug" : "error";
      logger[level]("unhandled rejection in a handler; the worker continues", {
        job_id: id,
        type,
        run: n,
        correlation_id: correlationId,
        error,
      });
    },
  };
}
