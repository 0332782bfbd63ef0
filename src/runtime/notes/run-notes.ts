/**
 * The notes of one run (progress, phases, units, logs) and the checkpoints of earlier runs. Made at
 * the first use: a plain job that stores no notes has none.
 */
import type { Clock } from "../../core/clock.ts";
import { MillraceError } from "../../core/errors.ts";
import { overallPercent } from "../../core/progress.ts";
import type { JsonText } from "../../core/job.ts";
import type { ClaimedJob, JobKey, Lease, NewJob } from "../../store/types/jobs-and-runs.ts";
import type {
  Checkpoints,
  LogEntry,
  NoteBody,
  AcquiredLocks,
  OpenRun,
  PhaseResult,
  RunNote,
  RunProgress,
  UnitMove,
} from "../../store/types/notes.ts";
import { LogBuffer } from "./log-buffer.ts";
import { RunCheckpoints } from "./checkpoints.ts";
import { CurrentPhase } from "./current-phase.ts";
import { ChildNotEnqueuedError } from "../run/refused-children.ts";
import { RunLocks } from "../run/locks.ts";
import { ProgressThrottle } from "./progress-throttle.ts";
import type { RecordAnswer } from "./note-sender.ts";
import type { LockQueue } from "../run/lock-queue.ts";

/** What a run uses of the store, with retries. */
export interface RunStore {
  record(note: RunNote): Promise<RecordAnswer>;
  checkpoints(key: JobKey): Promise<Checkpoints | null>;
  acquireLocks(run: OpenRun, names: readonly string[]): Promise<AcquiredLocks | null>;
  /** Where the runs of the worker wait for locks. */
  readonly lockQueue: LockQueue;
}

/** The phase of units of a plain handler. */
const NO_PHASE = "";
const ENDED_ELSEWHERE = "was ended by another process";
const WORKER_STOPPED = "has ended with its worker";

export interface RunNotesParts {
  readonly job: ClaimedJob;
  readonly lease: Lease;
  /** The phases of the definition, in order; none for a plain handler. */
  readonly phases: readonly string[];
  readonly onRetry: "resume" | "restart";
  readonly runStore: RunStore;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The store has ended the run, or another worker has. */
  readonly onLost: () => void;
}

/** One call of `ctx.progress`. */
export interface ProgressReport {
  readonly percent: number;
  readonly data: JsonText | null;
  readonly flush: boolean;
}

export class RunNotes {
  readonly checkpoints: RunCheckpoints = new RunCheckpoints();
  /**
   * Units were left undone because the run was interrupted. The run has not succeeded then, even if
   * the handler returns: a completed job would never do the rest.
   */
  isCutShort = false;
  readonly #parts: RunNotesParts;
  readonly #throttle: ProgressThrottle;
  readonly #log: LogBuffer;
  #locks: RunLocks | null = null;
  #currentPhase = new CurrentPhase();
  /** The last progress of this run. */
  #lastProgress: RunProgress | null = null;
  #loaded: Promise<void> | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor(parts: RunNotesParts) {
    this.#parts = parts;
    this.#throttle = new ProgressThrottle(parts.clock, (progress) => this.record({ progress }));
    this.#log = new LogBuffer(parts.clock, (logs) => this.record({ logs }));
  }

  /** The locks of its units. */
  get locks(): RunLocks {
    this.#locks ??= this.#makeLocks();
    return this.#locks;
  }

  /** The locks that are released with the end of the run. */
  get heldLocks(): readonly string[] {
    return this.#locks?.held ?? [];
  }

  /** Failed units that count when the run succeeds. */
  get failedUnits(): number {
    const { phases } = this.#parts;
    return this.checkpoints.failedUnits(phases.length === 0 ? [NO_PHASE] : phases);
  }

  /** Adds a line to the log of the job, without waiting for the store. */
  log(line: Omit<LogEntry, "turn">): void {
    if (!this.#isOver) this.#log.add(line);
  }

  /** Lines that are stored with the end of the run. */
  get unsentLines(): readonly LogEntry[] {
    return this.#log.unsent;
  }

  /** Reads the checkpoints of earlier runs once; an attempt that restarts deletes them. */
  loadCheckpoints(): Promise<void> {
    this.#loaded ??= this.#loadCheckpoints();
    return this.#loaded;
  }

  /** Whether an earlier run has completed a unit, or its phase. */
  async hasStored(phase: string, unit: string): Promise<boolean> {
    // An error of the store is met again by the handler, and is the outcome of the run there.
    await this.loadCheckpoints().catch(nothing);
    const { checkpoints } = this;
    return (
      checkpoints.phase(phase) !== undefined || checkpoints.completed(phase, unit) !== undefined
    );
  }

  /** Resolves when the note is stored; rejects if it cannot be stored. */
  async record(body: NoteBody): Promise<void> {
    const { job, lease, runStore, onLost } = this.#parts;
    if (this.#isOver) throw new RunOver(job, "has ended");
    const sent = runStore.record({ lease, key: job.key, n: job.n, ...body });
    this.#last = sent;
    const answer = await sent;
    if (typeof answer === "object") throw new ChildNotEnqueuedError(answer, body.children ?? []);
    switch (answer) {
      case "recorded":
        return;
      case "stale":
        onLost();
        throw new RunOver(job, ENDED_ELSEWHERE);
      case "closed":
        throw new RunOver(job, WORKER_STOPPED);
      case "refused":
        throw refused(job);
    }
  }

  /** Records that a phase begins, without waiting for the store. */
  begin(phase: string): void {
    this.#currentPhase = new CurrentPhase();
    this.record({ progress: this.#progress(phase) }).catch(nothing);
  }

  /** Resolves when this or newer progress is stored. `flush`: it is stored at once. */
  reportProgress(phase: string | null, { percent, data, flush }: ProgressReport): Promise<void> {
    this.#currentPhase.report(percent, data);
    const stored = this.#tellProgress(phase);
    if (flush) this.#throttle.flush();
    return stored;
  }

  /** Units of the phase are planned or have ended. They move its percent. */
  countUnits(phase: string, units: { readonly total?: number; readonly ended?: number }): void {
    if (!this.#currentPhase.countUnits(units)) return;
    void this.#tellProgress(phase === NO_PHASE ? null : phase);
  }

  /** Records that units are planned or start. */
  moveUnits(units: readonly UnitMove[]): Promise<void> {
    return this.record({ units });
  }

  /** Stores the end of a unit and the start of the next, releases a lock, enqueues children. */
  async endUnit(
    units: readonly UnitMove[],
    { lock, children }: { readonly lock: string | null; readonly children: readonly NewJob[] },
  ): Promise<void> {
    const released = lock === null || this.locks.isOwn(lock) ? null : lock;
    await this.record({
      units,
      ...(released === null ? {} : { releases: [released] }),
      ...(children.length === 0 ? {} : { children }),
    });
    if (released !== null) this.locks.onReleased(released);
  }

  /** Stores the result of a phase and enqueues its children. */
  async complete(completed: PhaseResult, children: readonly NewJob[]): Promise<void> {
    this.#throttle.flush();
    await this.record({ completed, ...(children.length === 0 ? {} : { children }) });
    this.checkpoints.complete(completed);
  }

  /** Resolves when the store has answered all notes. Later notes are refused. */
  async close(): Promise<void> {
    this.#throttle.flush();
    this.#log.close();
    this.#locks?.close();
    this.#isOver = true;
    await this.#last;
  }

  #makeLocks(): RunLocks {
    const { job, clock, signal, runStore } = this.#parts;
    const { tenant, concurrencyKey: ownKey } = job;
    const acquireLocks = (names: readonly string[]): Promise<readonly string[]> =>
      this.#acquireLocks(names);
    const queue = runStore.lockQueue;
    return new RunLocks({ clock, signal, tenant, ownKey, queue, acquireLocks });
  }

  async #acquireLocks(names: readonly string[]): Promise<readonly string[]> {
    const { job, lease, runStore, onLost } = this.#parts;
    const answer = await runStore.acquireLocks({ lease, key: job.key, n: job.n }, names);
    if (answer === null) throw new RunOver(job, WORKER_STOPPED);
    if (answer.status === "done") return answer.names;
    onLost();
    throw new RunOver(job, ENDED_ELSEWHERE);
  }

  async #loadCheckpoints(): Promise<void> {
    const { job, runStore, onRetry } = this.#parts;
    // Nothing has run before that could have left a checkpoint.
    if (job.n === 1 && !job.isSuccessor) return;
    const found = await runStore.checkpoints(job.key);
    if (found === null) throw new RunOver(job, WORKER_STOPPED);
    if (onRetry === "restart" && isOfEarlierAttempt(found, job)) {
      // Progress that this attempt has reported before must not be deleted.
      const progress = this.#lastProgress === null ? {} : { progress: this.#lastProgress };
      this.record({ clearCheckpoints: true, ...progress }).catch(nothing);
      return;
    }
    this.checkpoints.load(found);
  }

  #tellProgress(phase: string | null): Promise<void> {
    this.#lastProgress = this.#progress(phase);
    return this.#throttle.report(this.#lastProgress);
  }

  #progress(phase: string | null): RunProgress {
    const { phases } = this.#parts;
    const { percent, data } = this.#currentPhase;
    const phaseIndex = phase === null ? 0 : phases.indexOf(phase);
    const overall = overallPercent({
      phaseIndex,
      phasePercent: percent,
      phaseCount: phases.length,
    });
    return { phase, phases, percent, overall, data };
  }
}

/**
 * After a deploy or a snooze the same attempt continues with its checkpoints; a new attempt and a
 * successor restart. Without phases and units there may be progress of an earlier attempt.
 */
function isOfEarlierAttempt({ tries }: Checkpoints, job: ClaimedJob): boolean {
  return (tries ?? 0) < job.tries;
}

/** The run has ended, so its notes are refused. */
export class RunOver extends MillraceError {
  constructor({ id }: ClaimedJob, why: string, cause?: unknown) {
    super("JOB_OVER", `the run of job ${id} ${why}`, { details: { id }, cause });
  }
}

/** The reason of the aborted signal of a run that ends badly. The cause is the first error. */
export class RunAborted extends RunOver {
  constructor(job: ClaimedJob, cause: unknown, refusedCall?: string) {
    const refusal = refusedCall === undefined ? "" : `: ${refusedCall} begins no unit`;
    super(job, `has ended, because its handler threw${refusal}; await all calls of ctx`, cause);
  }
}

function refused({ id }: ClaimedJob): MillraceError {
  const message = `the database refused a value of the run of job ${id}`;
  return new MillraceError("RESULT_REFUSED", `${message}: return plain, smaller JSON`, {
    details: { id },
  });
}

function nothing(): void {}
