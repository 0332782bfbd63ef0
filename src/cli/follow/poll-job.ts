/** Looks at a job again and again, and remembers what of its story has been told. */
import { isFinal } from "../../core/job.ts";
import type { JobView, Millrace } from "../../api/client.ts";
import type { LogView } from "../../api/logs.ts";
import type { ProgressView, UnitView } from "../../api/progress.ts";
import { LogReader } from "./log-lines.ts";
import { newsOf, NOTHING_TOLD, type News, type Sight, type Told } from "./job-changes.ts";

/** Most units to ask for at once. */
const PAGE = 1_000;

export class JobPoll {
  readonly #mill: Millrace;
  readonly #id: string;
  readonly #tell: (sight: Sight, news: readonly News[]) => void;
  readonly #log: LogReader;
  #told: Told = NOTHING_TOLD;
  #isOver = false;
  /** Lines that were read, but not told yet. */
  #lines: LogView[] = [];
  #missed = 0;
  /** What the failures were last read at. */
  #failuresAt = "";
  #failed: readonly UnitView[] = [];

  constructor(mill: Millrace, id: string, tell: (sight: Sight, news: readonly News[]) => void) {
    this.#mill = mill;
    this.#id = id;
    this.#tell = tell;
    this.#log = new LogReader(mill.jobs, id);
  }

  /** Tells the news. A look counts only if the job stood still between its parts. */
  async look(): Promise<JobView> {
    const { jobs } = this.#mill;
    const before = await jobs.get(this.#id);
    const attempts = await jobs.attempts(this.#id);
    // Whatever the log speaks of has begun when the progress is read after it.
    await this.#readLog();
    const progress = await jobs.progress(this.#id);
    await this.#readFailures(progress, attempts.length);
    const job = await jobs.get(this.#id);
    if (this.#isOver || !isSame(job, before)) return job;
    const log = { missed: this.#missed, lines: this.#lines };
    const sight: Sight = { job, attempts, progress, failed: this.#failed, log };
    const { news, told } = newsOf(this.#told, sight);
    this.#told = told;
    this.#lines = [];
    this.#missed = 0;
    this.#isOver = isFinal(job.state);
    this.#tell(sight, news);
    return job;
  }

  /** They are listed by name and not by time: all of them are read, when there may be others. */
  async #readFailures({ units, state }: ProgressView, runsEnded: number): Promise<void> {
    const at = JSON.stringify([units.failed, runsEnded, state]);
    if (at === this.#failuresAt) return;
    const failed: UnitView[] = [];
    let after: string | null = null;
    do {
      const from: { after?: string } = after === null ? {} : { after };
      const page: Awaited<ReturnType<Millrace["jobs"]["units"]>> = await this.#mill.jobs.units(
        this.#id,
        { state: "failed", limit: PAGE, ...from },
      );
      failed.push(...page.units);
      after = page.next;
    } while (after !== null);
    this.#failuresAt = at;
    this.#failed = failed;
  }

  async #readLog(): Promise<void> {
    const { missed, lines } = await this.#log.next();
    this.#lines.push(...lines);
    this.#missed += missed;
  }
}

/** The same state of the same run. */
function isSame(one: JobView, other: JobView): boolean {
  return one.state === other.state && one.startedAt?.getTime() === other.startedAt?.getTime();
}
