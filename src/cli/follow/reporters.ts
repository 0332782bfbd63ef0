/** Report the changes of a job: as a live view, as lines, or as JSON. */
import type { Clock } from "../../core/clock.ts";
import { plain } from "../../lib/plain-text.ts";
import { jsonLine, type Format } from "../terminal/output.ts";
import type { Screen, Terminal } from "../terminal/terminal.ts";
import { timeOfChange } from "./change-time.ts";
import { currentShare, endedOf } from "./completed-share.ts";
import { renderJob } from "./render-job.ts";
import { LiveArea } from "./live-area.ts";
import type { ShownLogLine } from "./log-lines.ts";
import type { JobChange, JobSnapshot } from "./job-changes.ts";
import { rateOf, withSample, type RateSample } from "./rate.ts";
import { describeChange } from "./describe-change.ts";

export interface Reporter {
  show(snapshot: JobSnapshot, changes: readonly JobChange[]): void;
  /** Ends the live view. */
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

/** Writes each change as one line of JSON to stdout. */
function jsonReporter(terminal: Terminal, clock: Pick<Clock, "now">): Reporter {
  return {
    show(snapshot, changes) {
      const { id } = snapshot.job;
      for (const each of changes) {
        const at = timeOfChange(each, snapshot) ?? new Date(clock.now());
        terminal.out(jsonLine({ at, id, ...each }));
      }
    },
    end() {},
  };
}

/** Writes one line per change to stderr, for files, pipes and log collectors. */
function lineReporter(terminal: Terminal, clock: Pick<Clock, "now">): Reporter {
  return {
    show(snapshot, changes) {
      for (const each of changes) terminal.err(lineOf(snapshot, each, clock.now()));
    },
    end() {},
  };
}

/** The changes that the live view writes as permanent lines. */
const PERMANENT_EVENTS: ReadonlySet<JobChange["event"]> = new Set([
  "job:waiting",
  "job:unit:failed",
  "job:retrying",
  "job:failed",
  "job:cancelled",
]);

/** Redraws the state of the job at every poll. */
class LiveReporter implements Reporter {
  readonly #screen: Screen;
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  readonly #area: LiveArea;
  #samples: readonly RateSample[] = [];
  #line: ShownLogLine | null = null;

  constructor(screen: Screen, clock: Pick<Clock, "now" | "monotonic">) {
    this.#screen = screen;
    this.#clock = clock;
    this.#area = new LiveArea(screen);
  }

  show(snapshot: JobSnapshot, changes: readonly JobChange[]): void {
    const { job, attempts, progress, log } = snapshot;
    const now = this.#clock.now();
    const permanent = changes.filter(({ event }) => PERMANENT_EVENTS.has(event));
    if (permanent.length > 0) {
      this.#area.say(permanent.map((each) => lineOf(snapshot, each, now)).join(""));
    }
    const isRunning = job.state === "running";
    this.#samples = isRunning ? withSample(this.#samples, this.#sample(snapshot)) : [];
    this.#line = log.lines.at(-1) ?? this.#line;
    const run = attempts.length + (isRunning ? 1 : 0);
    const rendering = {
      job,
      run,
      progress,
      rate: rateOf(this.#samples),
      lastLine: this.#line,
    };
    const { size, paint } = this.#screen;
    this.#area.draw(renderJob(rendering, size(), now, paint));
  }

  end(): void {
    this.#area.end();
  }

  #sample({ progress }: JobSnapshot): RateSample {
    const at = this.#clock.monotonic();
    const { phase, units } = progress;
    return { at, phase, share: currentShare(progress), ended: endedOf(units) };
  }
}

function lineOf(snapshot: JobSnapshot, change: JobChange, now: number): string {
  const { job } = snapshot;
  const at = timeOfChange(change, snapshot) ?? new Date(now);
  return `${at.toISOString()} ${plain(job.type)} ${job.id} ${plain(describeChange(change))}\n`;
}
