/** Watches one job to its end: news to stderr, the result to stdout. */
import { wait } from "../../core/clock.ts";
import { isFinal } from "../../core/job.ts";
import type { JobView, Millrace } from "../../api/client.ts";
import { systemClock } from "../../lib/system.ts";
import { EXIT, exitCodeOfState } from "../terminal/exit-codes.ts";
import type { ExitCode } from "../terminal/exit-codes.ts";
import { json, type Format } from "../terminal/output.ts";
import { listenForInterruption } from "../terminal/stop-signal.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { JobPoll } from "./poll-job.ts";
import { reporterFor } from "./reporters.ts";

/** How often to look for news; the end itself is heard at once. */
const LOOK_MS = 250;
/** Looking takes at most this part of the time, however much there is to read. */
const LOOK_SHARE = 1 / 5;

export interface FollowOptions {
  readonly format: Format;
  readonly timeoutMs: number | undefined;
  /** The command that takes up the watch again. */
  readonly again: string;
}

export async function follow(
  mill: Millrace,
  id: string,
  { format, timeoutMs, again }: FollowOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const reporter = reporterFor(format, terminal, systemClock);
  const lookout = new JobPoll(mill, id, (sight, news) => reporter.show(sight, news));
  try {
    const job = await untilEnd(mill, id, timeoutMs, () => lookout.look());
    // What was drawn is left alone before anybody else writes.
    reporter.end();
    if (job === "detached") return detached(again, terminal);
    return finish(job, format, terminal);
  } finally {
    reporter.end();
  }
}

/** Looks until the job is over, and once more then. Ctrl-C only ends the looking. */
export async function untilEnd(
  mill: Millrace,
  id: string,
  timeoutMs: number | undefined,
  look: () => Promise<JobView>,
): Promise<JobView | "detached"> {
  const interruption = listenForInterruption();
  const { signal } = interruption;
  try {
    const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs };
    const end = mill.wait({ id, type: "" }, { signal, ...timeout });
    const settled = end.then(isOver, isOver);
    for (let isEnded = false; !isEnded;) {
      const before = systemClock.monotonic();
      await look();
      const tookMs = systemClock.monotonic() - before;
      const pauseMs = Math.max(LOOK_MS, tookMs / LOOK_SHARE - tookMs);
      isEnded = await Promise.race([settled, wait(systemClock, pauseMs).then(() => false)]);
    }
    await end;
    return await look();
  } catch (error) {
    if (!signal.aborted) throw error;
    return "detached";
  } finally {
    interruption.stop();
  }
}

export function detached(again: string, terminal: Terminal): ExitCode {
  terminal.err(`Detached; the job goes on. To follow it again: ${again}\n`);
  return EXIT.interrupted;
}

/** The code that the end of a job gives to the command that waited for it. */
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
