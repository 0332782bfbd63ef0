/** Polls a job and reports its changes since the last poll. */
import { isFinal } from "../../core/job.ts";
import type { Explanation, JobView } from "../../api/client.ts";
import type { OperatorMill } from "../operator-mill.ts";
import type { LogView } from "../../api/logs.ts";
import type { ProgressView, UnitView } from "../../api/progress.ts";
import { LogReader } from "./log-lines.ts";
import {
  changesSince,
  NOTHING_REPORTED,
  type JobChange,
  type JobSnapshot,
  type ReportedChanges,
} from "./job-changes.ts";

/** The maximum number of units in one read. */
const PAGE = 1_000;

/** Reasons to wait that need no words: another change names the time, or a worker has a slot. */
const TAKEN_SOON: ReadonlySet<string> = new Set(["scheduled", "retrying", "waiting"]);

export class JobPoller {
  readonly #mill: OperatorMill;
  readonly #id: string;
  readonly #report: (snapshot: JobSnapshot, changes: readonly JobChange[]) => void;
  readonly #log: LogReader;
  #reported: ReportedChanges = NOTHING_REPORTED;
  #isOver = false;
  /** Lines that were read and not yet reported. */
  #lines: LogView[] = [];
  #missed = 0;
  /** The counts at the last read of the failed units. */
  #failuresAt = "";
  #failed: readonly UnitView[] = [];

  constructor(
    mill: OperatorMill,
    id: string,
    report: (snapshot: JobSnapshot, changes: readonly JobChange[]) => void,
  ) {
    this.#mill = mill;
    this.#id = id;
    this.#report = report;
    this.#log = new LogReader(mill.jobs, id);
  }

  /** Reports the changes, unless the job changed its state between the reads of this poll. */
  async poll(): Promise<JobView> {
    const { jobs } = this.#mill;
    const before = await jobs.get(this.#id);
    const attempts = await jobs.attempts(this.#id);
    // The progress is read after the log, so that it includes all that the log lines mention.
    await this.#readLog();
    const progress = await jobs.progress(this.#id);
    await this.#readFailures(progress, attempts.length);
    const wait = await this.#readWait(before);
    const job = await jobs.get(this.#id);
    if (this.#isOver || !isSame(job, before)) return job;
    const log = { missed: this.#missed, lines: this.#lines };
    const snapshot: JobSnapshot = { job, attempts, progress, failed: this.#failed, log, wait };
    const { changes, reported } = changesSince(this.#reported, snapshot);
    this.#reported = reported;
    this.#lines = [];
    this.#missed = 0;
    this.#isOver = isFinal(job.state);
    this.#report(snapshot, changes);
    return job;
  }

  /** Reads all failed units, because they are listed by their position and not by time. */
  async #readFailures({ units, state }: ProgressView, runsEnded: number): Promise<void> {
    const at = JSON.stringify([units.failed, runsEnded, state]);
    if (at === this.#failuresAt) return;
    const failed: UnitView[] = [];
    let after: string | null = null;
    do {
      const from: { after?: string } = after === null ? {} : { after };
      const page: Awaited<ReturnType<OperatorMill["jobs"]["units"]>> = await this.#mill.jobs.units(
        this.#id,
        { state: "failed", limit: PAGE, ...from },
      );
      failed.push(...page.units);
      after = page.next;
    } while (after !== null);
    this.#failuresAt = at;
    this.#failed = failed;
  }

  async #readWait({ state }: JobView): Promise<Explanation | null> {
    if (state !== "queued" && state !== "scheduled") return null;
    const wait = await this.#mill.jobs.explain(this.#id);
    return TAKEN_SOON.has(wait.reason) ? null : wait;
  }

  async #readLog(): Promise<void> {
    const { missed, lines } = await this.#log.next();
    this.#lines.push(...lines);
    this.#missed += missed;
  }
}

/** True for the same state of the same run. */
function isSame(one: JobView, other: JobView): boolean {
  return one.state === other.state && one.startedAt?.getTime() === other.startedAt?.getTime();
}
