/**
 * What one run says about itself while it goes on, and what those before it have left. Only runs
 * that have something to say or to remember have one.
 */
import type { Clock } from "../core/clock.ts";
import { MillraceError } from "../core/errors.ts";
import { overallPercent } from "../core/progress.ts";
import type { JsonText } from "../core/job.ts";
import type {
  ClaimedJob,
  JobKey,
  JobMemory,
  Lease,
  NewJob,
  NoteBody,
  PhaseResult,
  RunNote,
  UnitMove,
} from "../store/store.ts";
import { Memory } from "./memory.ts";
import { ProgressTeller } from "./progress.ts";
import type { RecordAnswer } from "./recorder.ts";

/** Where notes go, and where those of earlier runs come from. */
export interface Desk {
  add(note: RunNote): Promise<RecordAnswer>;
  recall(key: JobKey): Promise<JobMemory | null>;
}

export interface JournalParts {
  readonly job: ClaimedJob;
  readonly lease: Lease;
  /** Of the definition, in order; none for a plain handler. */
  readonly phases: readonly string[];
  readonly onRetry: "resume" | "restart";
  readonly desk: Desk;
  readonly clock: Clock;
  /** The store says that the run is no longer ours. */
  readonly lost: () => void;
}

export class Journal {
  readonly memory: Memory = new Memory();
  /**
   * Units were left undone because the run was asked to end. Whatever the handler makes of that, it
   * has not ended well: nobody would ever do the rest.
   */
  isCutShort = false;
  readonly #parts: JournalParts;
  readonly #teller: ProgressTeller;
  #recalled: Promise<void> | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor(parts: JournalParts) {
    this.#parts = parts;
    this.#teller = new ProgressTeller(parts.clock, (progress) => this.record({ progress }));
  }

  /** Looks once at what earlier runs have left; an attempt that restarts forgets it. */
  recall(): Promise<void> {
    this.#recalled ??= this.#recall();
    return this.#recalled;
  }

  /** Resolves when the note is stored; rejects when it cannot be. */
  async record(body: NoteBody): Promise<void> {
    const { job, lease, desk, lost } = this.#parts;
    if (this.#isOver) throw new RunOver(job, "has ended");
    const answer = desk.add({ lease, key: job.key, n: job.n, ...body });
    this.#last = answer;
    switch (await answer) {
      case "recorded":
        return;
      case "stale":
        lost();
        throw new RunOver(job, "was ended by somebody else");
      case "closed":
        throw new RunOver(job, "has ended with its worker");
      case "refused":
        throw notTaken(job);
    }
  }

  /** A phase begins. Nobody waits for that. */
  begin(phase: string): void {
    this.record({ progress: this.#progress(phase, 0, null) }).catch(nothing);
  }

  /** Resolves when this progress, or newer one, is stored. */
  tell(phase: string | null, percent: number, data: JsonText | null): Promise<void> {
    return this.#teller.tell(this.#progress(phase, percent, data));
  }

  move(units: readonly UnitMove[]): Promise<void> {
    return this.record({ units });
  }

  /** A phase has ended well, and with it its children come into being. */
  async complete(completed: PhaseResult, children: readonly NewJob[]): Promise<void> {
    this.#teller.hurry();
    await this.record({ completed, ...(children.length === 0 ? {} : { children }) });
    this.memory.complete(completed);
  }

  /** Resolves when all that was said is stored, or cannot be. From then on nothing is said. */
  async close(): Promise<void> {
    this.#teller.hurry();
    this.#isOver = true;
    await this.#last;
  }

  async #recall(): Promise<void> {
    const { job, desk, onRetry } = this.#parts;
    const left = await desk.recall(job.key);
    if (left === null) throw new RunOver(job, "has ended with its worker");
    if (onRetry === "restart" && isOfEarlierAttempt(left, job)) {
      this.record({ afresh: true }).catch(nothing);
      return;
    }
    this.memory.take(left);
  }

  #progress(phase: string | null, percent: number, data: JsonText | null) {
    const { phases } = this.#parts;
    const phaseIndex = phase === null ? 0 : phases.indexOf(phase);
    const overall = overallPercent({
      phaseIndex,
      phasePercent: percent,
      phaseCount: phases.length,
    });
    return { phase, phases, percent, overall, data };
  }
}

/** A deploy or a snooze goes on with what it has; a new attempt, or a successor, begins anew. */
function isOfEarlierAttempt({ tries }: JobMemory, job: ClaimedJob): boolean {
  return tries !== null && tries < job.tries;
}

/** Nothing that this run says is heard any more. */
export class RunOver extends MillraceError {
  constructor({ id }: ClaimedJob, why: string) {
    super("JOB_OVER", `the run of job ${id} ${why}`, { details: { id } });
  }
}

function notTaken({ id }: ClaimedJob): MillraceError {
  const message = `the database does not take a value that the run of job ${id} wants to keep`;
  return new MillraceError("RESULT_REFUSED", `${message}: return plain, smaller JSON`, {
    details: { id },
  });
}

function nothing(): void {}
