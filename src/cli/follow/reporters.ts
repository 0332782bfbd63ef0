/** How the story of a job is told: drawn on a terminal, in lines, or as JSON. */
import type { Clock } from "../../core/clock.ts";
import { plain } from "../../lib/plain-text.ts";
import { jsonLine, type Format } from "../terminal/output.ts";
import type { Screen, Terminal } from "../terminal/terminal.ts";
import { endedOf, shareOfJob } from "./completed-share.ts";
import { linesOf } from "./render-job.ts";
import { LiveArea } from "./live-area.ts";
import type { LogLine } from "./log-lines.ts";
import type { News, Sight } from "./job-changes.ts";
import { paceOf, withSample, type Sample } from "./rate.ts";
import { sentenceOf } from "./describe-change.ts";

export interface Reporter {
  show(sight: Sight, news: readonly News[]): void;
  /** Gives the terminal back. */
  end(): void;
}

export function reporterFor(
  format: Format,
  terminal: Terminal,
  clock: Pick<Clock, "now" | "monotonic">,
): Reporter {
  if (format === "ndjson") return jsonReporter(terminal, clock);
  const { screen } = terminal;
  return screen === undefined ? lineReporter(terminal, clock) : new LiveReporter(screen, clock);
}

/** Each event on a line of its own, to stdout. */
function jsonReporter(terminal: Terminal, clock: Pick<Clock, "now">): Reporter {
  return {
    show({ job }, news) {
      const at = new Date(clock.now()).toISOString();
      for (const each of news) terminal.out(jsonLine({ at, id: job.id, ...each }));
    },
    end() {},
  };
}

/** A line for every change: for files, pipes and log collectors. */
function lineReporter(terminal: Terminal, clock: Pick<Clock, "now">): Reporter {
  return {
    show(sight, news) {
      for (const each of news) terminal.err(lineOf(sight, each, clock.now()));
    },
    end() {},
  };
}

/** What must not be drawn over: people read it afterwards. */
const LASTING: ReadonlySet<News["event"]> = new Set([
  "job:unit:failed",
  "job:retrying",
  "job:failed",
  "job:cancelled",
]);

/** A picture of where the job stands, in place of the one before. */
class LiveReporter implements Reporter {
  readonly #screen: Screen;
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  readonly #area: LiveArea;
  #samples: readonly Sample[] = [];
  #line: LogLine | null = null;

  constructor(screen: Screen, clock: Pick<Clock, "now" | "monotonic">) {
    this.#screen = screen;
    this.#clock = clock;
    this.#area = new LiveArea(screen);
  }

  show(sight: Sight, news: readonly News[]): void {
    const { job, attempts, progress, log } = sight;
    const now = this.#clock.now();
    const lasting = news.filter(({ event }) => LASTING.has(event));
    if (lasting.length > 0) {
      this.#area.say(lasting.map((each) => lineOf(sight, each, now)).join(""));
    }
    const isRunning = job.state === "running";
    this.#samples = isRunning ? withSample(this.#samples, this.#sample(sight)) : [];
    this.#line = log.lines.at(-1) ?? this.#line;
    const run = attempts.length + (isRunning ? 1 : 0);
    const board = { job, run, progress, pace: paceOf(this.#samples), line: this.#line };
    const { size, paint } = this.#screen;
    this.#area.draw(linesOf(board, size(), now, paint));
  }

  end(): void {
    this.#area.end();
  }

  #sample({ progress }: Sight): Sample {
    const at = this.#clock.monotonic();
    return { at, share: shareOfJob(progress), ended: endedOf(progress.units) };
  }
}

/** A log line has its own time, all else that at which it was seen. */
function lineOf({ job }: Sight, news: News, now: number): string {
  const at = news.event === "job:log" ? news.loggedAt : new Date(now);
  return `${at.toISOString()} ${plain(job.type)} ${job.id} ${plain(sentenceOf(news))}\n`;
}
