/**
 * What one run says about itself while it goes on, and what those before it have left. Only runs
 * that have something to say or to remember have one.
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
import { ChildRefused } from "../run/refused-children.ts";
import { RunLocks } from "../run/locks.ts";
import { ProgressThrottle } from "./progress-throttle.ts";
import type { RecordAnswer } from "./note-sender.ts";
import type { LockQueue } from "../run/lock-queue.ts";

/** Where notes go, and where those of earlier runs come from. */
export interface Desk {
  add(note: RunNote): Promise<RecordAnswer>;
  recall(key: JobKey): Promise<Checkpoints | null>;
  acquireLocks(run: OpenRun, names: readonly string[]): Promise<AcquiredLocks | null>;
  /** Where runs wait for exclusive names. */
  readonly line: LockQueue;
}

/** Where the units of a plain handler are kept. */
const NO_PHASE = "";
const TAKEN_AWAY = "was ended by somebody else";
const WORKER_GONE = "has ended with its worker";

export interface RunNotesParts {
  readonly job: ClaimedJob;
  readonly lease: Lease;
  /** Of the definition, in order; none for a plain handler. */
  readonly phases: readonly string[];
  readonly onRetry: "resume" | "restart";
  readonly desk: Desk;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The store says that the run is no longer ours. */
  readonly lost: () => void;
}

export class RunNotes {
  readonly memory: RunCheckpoints = new RunCheckpoints();
  /**
   * Units were left undone because the run was asked to end. Whatever the handler makes of that, it
   * has not ended well: nobody would ever do the rest.
   */
  isCutShort = false;
  readonly #parts: RunNotesParts;
  readonly #teller: ProgressThrottle;
  readonly #log: LogBuffer;
  #names: RunLocks | null = null;
  /** What this run has told last. */
  #told: RunProgress | null = null;
  #recalled: Promise<void> | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor(parts: RunNotesParts) {
    this.#parts = parts;
    this.#teller = new ProgressThrottle(parts.clock, (progress) => this.record({ progress }));
    this.#log = new LogBuffer(parts.clock, (logs) => this.record({ logs }));
  }

  /** The exclusive names of its units. */
  get names(): RunLocks {
    this.#names ??= this.#makeNames();
    return this.#names;
  }

  /** Those that are given up with the end of the run. */
  get heldNames(): readonly string[] {
    return this.#names?.held ?? [];
  }

  /** Units that count when the run ends well. */
  get failedUnits(): number {
    const { phases } = this.#parts;
    return this.memory.failedUnits(phases.length === 0 ? [NO_PHASE] : phases);
  }

  /** Keeps a line in the log of the job. Nobody waits for that. */
  log(line: LogEntry): void {
    if (!this.#isOver) this.#log.add(line);
  }

  /** The last lines, which go with the end of the run. */
  get lastLines(): readonly LogEntry[] {
    return this.#log.untold;
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
    const told = await answer;
    if (typeof told === "object") throw new ChildRefused(told, body.children ?? []);
    switch (told) {
      case "recorded":
        return;
      case "stale":
        lost();
        throw new RunOver(job, TAKEN_AWAY);
      case "closed":
        throw new RunOver(job, WORKER_GONE);
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
    this.#told = this.#progress(phase, percent, data);
    return this.#teller.tell(this.#told);
  }

  /** Units begin. */
  beginUnits(units: readonly UnitMove[]): Promise<void> {
    return this.record({ units });
  }

  /** A unit has ended: its exclusive name is given up, and its children come into being. */
  async endUnit(
    unit: UnitMove,
    { name, children }: { readonly name: string | null; readonly children: readonly NewJob[] },
  ): Promise<void> {
    const released = name === null || this.names.isOwn(name) ? null : name;
    await this.record({
      units: [unit],
      ...(released === null ? {} : { releases: [released] }),
      ...(children.length === 0 ? {} : { children }),
    });
    if (released !== null) this.names.released(released);
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
    this.#log.close();
    this.#names?.close();
    this.#isOver = true;
    await this.#last;
  }

  #makeNames(): RunLocks {
    const { job, clock, signal, desk } = this.#parts;
    const { tenant, concurrencyKey: own } = job;
    const acquireLocks = (names: readonly string[]): Promise<readonly string[]> =>
      this.#acquireLocks(names);
    return new RunLocks({ clock, signal, tenant, own, line: desk.line, acquireLocks });
  }

  async #acquireLocks(names: readonly string[]): Promise<readonly string[]> {
    const { job, lease, desk, lost } = this.#parts;
    const answer = await desk.acquireLocks({ lease, key: job.key, n: job.n }, names);
    if (answer === null) throw new RunOver(job, WORKER_GONE);
    if (answer.status === "done") return answer.names;
    lost();
    throw new RunOver(job, TAKEN_AWAY);
  }

  async #recall(): Promise<void> {
    const { job, desk, onRetry } = this.#parts;
    const left = await desk.recall(job.key);
    if (left === null) throw new RunOver(job, WORKER_GONE);
    if (onRetry === "restart" && isOfEarlierAttempt(left, job)) {
      // What this attempt has told before it came to remember is not to be forgotten.
      const told = this.#told === null ? {} : { progress: this.#told };
      this.record({ clearCheckpoints: true, ...told }).catch(nothing);
      return;
    }
    this.memory.take(left);
  }

  #progress(phase: string | null, percent: number, data: JsonText | null): RunProgress {
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

/**
 * A deploy or a snooze goes on with what it has; a new attempt, or a successor, begins anew. Where
 * no phase and no unit tells, there may still be the progress of an earlier attempt.
 */
function isOfEarlierAttempt({ tries }: Checkpoints, job: ClaimedJob): boolean {
  return (tries ?? 0) < job.tries;
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
