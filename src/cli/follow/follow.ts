/** Follows one job to its end: changes to stderr, the result to stdout. */
import { wait } from "../../core/clock.ts";
import { MillraceError } from "../../core/errors.ts";
import { isFinal } from "../../core/job.ts";
import type { JobView } from "../../api/client.ts";
import type { OperatorMill } from "../operator-mill.ts";
import { systemClock } from "../../lib/system.ts";
import { EXIT, exitCodeOfState } from "../terminal/exit-codes.ts";
import type { ExitCode } from "../terminal/exit-codes.ts";
import { json, type Format } from "../terminal/output.ts";
import { listenForInterrupt } from "../terminal/stop-signal.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { JobPoller } from "./poll-job.ts";
import { reporterFor } from "./reporters.ts";

/** How often to poll for changes. The end of the job is notified and needs no poll. */
const POLL_MS = 250;
/** The maximum share of the time that polling takes. */
const POLL_SHARE = 1 / 5;

export interface FollowOptions {
  readonly format: Format;
  readonly timeoutMs: number | undefined;
  /** The command that follows the job again. */
  readonly again: string;
  /** The command that explains why the job does not run. */
  readonly explain: string;
}

export async function follow(
  mill: OperatorMill,
  id: string,
  { format, timeoutMs, again, explain }: FollowOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const reporter = reporterFor(format, terminal, systemClock);
  const poller = new JobPoller(mill, id, (snapshot, changes) => reporter.show(snapshot, changes));
  try {
    const job = await pollUntilEnd(mill, id, timeoutMs, () => poller.poll());
    // The live area must end before other output is written.
    reporter.end();
    if (job === "detached") return detached(again, terminal);
    return finish(job, format, terminal);
  } catch (error) {
    throw isTimeout(error) ? timedOut(error, explain) : error;
  } finally {
    reporter.end();
  }
}

function isTimeout(error: unknown): error is MillraceError {
  return error instanceof MillraceError && error.code === "WAIT_TIMED_OUT";
}

/** The same error with a command in its hint, not a call of the library. */
function timedOut({ code, message, details }: MillraceError, explain: string): MillraceError {
  return new MillraceError(code, message, {
    details,
    hint: `Wait longer, or read the reason with: ${explain}`,
  });
}

/** Polls until the job is final, and once more then. Ctrl-C ends only the polling. */
export async function pollUntilEnd(
  mill: OperatorMill,
  id: string,
  timeoutMs: number | undefined,
  poll: () => Promise<JobView>,
): Promise<JobView | "detached"> {
  const interruption = listenForInterrupt();
  const { signal } = interruption;
  try {
    const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs };
    const end = mill.wait({ id, type: "" }, { signal, ...timeout });
    const settled = end.then(isOver, isOver);
    for (let isEnded = false; !isEnded;) {
      const before = systemClock.monotonic();
      await poll();
      const tookMs = systemClock.monotonic() - before;
      const pauseMs = Math.max(POLL_MS, tookMs / POLL_SHARE - tookMs);
      isEnded = await Promise.race([settled, wait(systemClock, pauseMs).then(() => false)]);
    }
    await end;
    return await poll();
  } catch (error) {
    if (!signal.aborted) throw error;
    return "detached";
  } finally {
    interruption.stop();
  }
}

export function detached(again: string, terminal: Terminal): ExitCode {
  terminal.err(`Detached; the job continues. To follow it again: ${again}\n`);
  return EXIT.interrupted;
}

/** The exit code of a command that waited for a job. */
export function exitCodeOfJob({ id, state }: JobView): ExitCode {
  if (!isFinal(state)) throw new Error(`job ${id} is ${state} after its end`);
  return exitCodeOfState(state);
}

function isOver(): true {
  return true;
}

function finish(job: JobView, format: Format, terminal: Terminal): ExitCode {
  const hasResult = job.state === "completed" || job.state === "completed_with_errors";
  if (format === "json") terminal.out(json(job));
  if (format === "table" && hasResult) terminal.out(json(job.result));
  return exitCodeOfJob(job);
}
