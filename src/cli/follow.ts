/** Watches one job to its end: news to stderr, the result to stdout. */
import { wait } from "../core/clock.ts";
import { isFinal } from "../core/job.ts";
import type { Fault } from "../core/outcome.ts";
import type { JobView, Millrace } from "../face/client.ts";
import { systemClock } from "../lib/system.ts";
import { EXIT, exitCodeOfState } from "./exit-codes.ts";
import type { ExitCode } from "./exit-codes.ts";
import { newsOf, NOTHING_TOLD, type News, type Told } from "./news.ts";
import { plain } from "../lib/plain-text.ts";
import { json, jsonLine, type Format } from "./output.ts";
import { listenForInterruption } from "./stop-signal.ts";
import type { Terminal } from "./terminal.ts";

/** How often to look for news; the end itself is heard at once. */
const LOOK_MS = 250;

export interface FollowOptions {
  readonly format: Format;
  readonly timeoutMs: number | undefined;
  /** The command that takes up the watch again. */
  readonly again: string;
}

export async function follow(
  mill: Millrace,
  id: string,
  options: FollowOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const { signal } = interruption;
  const watch = new Watch(mill, id, (job, news) => tell(terminal, options.format, job, news));
  try {
    const { timeoutMs } = options;
    const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs };
    const end = mill.wait({ id, type: "" }, { signal, ...timeout });
    const settled = end.then(isOver, isOver);
    do await watch.look();
    while (!(await Promise.race([settled, wait(systemClock, LOOK_MS).then(() => false)])));
    await end;
    return finish(await watch.look(), options.format, terminal);
  } catch (error) {
    if (!signal.aborted) throw error;
    terminal.err(`Detached; the job goes on. To follow it again: ${options.again}\n`);
    return EXIT.interrupted;
  } finally {
    interruption.stop();
  }
}

function isOver(): true {
  return true;
}

/** Remembers what of a job's story has been told. */
class Watch {
  readonly #mill: Millrace;
  readonly #id: string;
  readonly #tell: (job: JobView, news: News) => void;
  #told: Told = NOTHING_TOLD;
  #isOver = false;

  constructor(mill: Millrace, id: string, onNews: (job: JobView, news: News) => void) {
    this.#mill = mill;
    this.#id = id;
    this.#tell = onNews;
  }

  /** Tells the news. A look counts only if the job stood still between its parts. */
  async look(): Promise<JobView> {
    const before = await this.#mill.jobs.get(this.#id);
    const attempts = await this.#mill.jobs.attempts(this.#id);
    const job = await this.#mill.jobs.get(this.#id);
    const stoodStill =
      job.state === before.state && job.startedAt?.getTime() === before.startedAt?.getTime();
    if (this.#isOver || !stoodStill) return job;
    const { news, told } = newsOf(this.#told, job, attempts);
    this.#told = told;
    this.#isOver = isFinal(job.state);
    for (const each of news) this.#tell(job, each);
    return job;
  }
}

function tell(terminal: Terminal, format: Format, job: JobView, news: News): void {
  const at = new Date(systemClock.now()).toISOString();
  if (format === "ndjson") {
    terminal.out(jsonLine({ at, id: job.id, ...news }));
    return;
  }
  terminal.err(`${at} ${plain(job.type)} ${job.id} ${plain(sentenceOf(news))}\n`);
}

function sentenceOf(news: News): string {
  switch (news.event) {
    case "job:enqueued":
      return news.state === "scheduled" ? `scheduled for ${shownTime(news.runAt)}` : "queued";
    case "job:started":
      return `running, run ${news.attempt}`;
    case "job:retrying": {
      const why = news.error === null ? "" : `: ${shownFault(news.error)}`;
      return `run ${news.attempt} ${news.outcome}${why}; again at ${shownTime(news.runAt)}`;
    }
    case "job:completed":
      return news.state;
    case "job:failed":
      return news.error === null ? "failed" : `failed: ${shownFault(news.error)}`;
    case "job:cancelled":
      return news.reason === null ? "cancelled" : `cancelled: ${news.reason}`;
  }
}

function shownTime(moment: Date | null): string {
  return moment?.toISOString() ?? "once";
}

function shownFault({ name, message }: Fault): string {
  return `${name}: ${message}`;
}

function finish(job: JobView, format: Format, terminal: Terminal): ExitCode {
  if (!isFinal(job.state)) throw new Error(`job ${job.id} is ${job.state} after its end`);
  const hasResult = job.state === "completed" || job.state === "completed_with_errors";
  if (format === "json") terminal.out(json(job));
  if (format === "table" && hasResult) terminal.out(json(job.result));
  return exitCodeOfState(job.state);
}
