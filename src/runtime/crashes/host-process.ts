/**
 * The workers of one operating-system process. They die together, so they share the slots for jobs
 * that have crashed before, and they empty the process together for a job that runs alone.
 */
import { crashedSlots } from "../../core/crashes.ts";
import { newId } from "../../core/ids.ts";
import { systemClock, systemDice } from "../../lib/system.ts";
import type { ClaimedJob, ProcessId, WorkerId } from "../../store/types/jobs-and-runs.ts";

/** A worker, as the other workers of its process need it. */
export interface ProcessMember {
  readonly id: WorkerId;
  /** Over all lanes. */
  readonly slots: number;
  /** No run, no claim, and no settlement that the store has not answered. */
  readonly isIdle: boolean;
  /** A handler or unit goes on after its run, because it ignores its signal. */
  readonly hasCodeLeft: boolean;
  /** Returns prefetched jobs. Resolves when the runs and claims of this moment have ended. */
  empty(): Promise<void>;
  /** The worker may claim again. */
  wake(): void;
}

/** How many crashed jobs one claim may take. */
export interface CrashedShare {
  readonly once: number;
  readonly often: number;
  /** The claim has ended: what it did not take is free again. */
  readonly end: (taken: readonly ClaimedJob[]) => void;
}

/** What the operating system knows of this process and others of the host. */
export interface ProcessTable {
  readonly pid: number;
  readonly isAlive: (pid: number) => boolean;
}

const PROCESS_TABLE: ProcessTable = {
  pid: process.pid,
  isAlive(pid) {
    try {
      return process.kill(pid, 0);
    } catch (error) {
      // A process of another user exists, but takes no signals from this one.
      return error instanceof Error && "code" in error && error.code === "EPERM";
    }
  },
};

export class HostProcess {
  readonly id: ProcessId;
  readonly pid: number;
  /** Whether a process of this host exists. */
  readonly isAlive: (pid: number) => boolean;
  readonly #members = new Set<ProcessMember>();
  /** Crashed jobs that run here, and those that claims under way may take. */
  #once = 0;
  #often = 0;
  readonly #running = new Set<ClaimedJob>();
  /** The lone runs, one of each worker at most, for which the process is empty or empties. */
  readonly #reservedFor = new Set<object>();

  constructor(id: ProcessId, { pid, isAlive }: ProcessTable = PROCESS_TABLE) {
    this.id = id;
    this.pid = pid;
    this.isAlive = isAlive;
  }

  /** The answered function removes the worker. */
  join(member: ProcessMember): () => void {
    this.#members.add(member);
    return () => void this.#members.delete(member);
  }

  has(worker: WorkerId): boolean {
    return [...this.#members].some(({ id }) => id === worker);
  }

  /** A job is to run alone: no worker of the process claims or starts another. */
  get isReserved(): boolean {
    return this.#reservedFor.size > 0;
  }

  get isIdle(): boolean {
    return [...this.#members].every(({ isIdle }) => isIdle);
  }

  /** Nothing can run alone beside such code, and the code may never end. */
  get hasCodeLeft(): boolean {
    return [...this.#members].some(({ hasCodeLeft }) => hasCodeLeft);
  }

  /**
   * Reserves the process for a job that runs alone. Resolves when the process is empty, or when
   * only code is left that ignores its signal. The next lone run of another worker may
   * reserve the process before this one reopens it.
   */
  async empty(holder: object): Promise<void> {
    this.#reservedFor.add(holder);
    // A run that ends may leave a settlement, and a claim that was under way may start runs.
    while (this.#reservedFor.has(holder) && !this.isIdle) {
      await Promise.all([...this.#members].map((member) => member.empty()));
      if (this.hasCodeLeft) return;
    }
  }

  /** Ends the reservation of this holder. */
  reopen(holder: object): void {
    if (this.#reservedFor.delete(holder) && !this.isReserved) this.#wake();
  }

  /** Claims overlap, also those of several lanes and workers: each gets what the others left. */
  share(limit: number): CrashedShare {
    const slots = crashedSlots(this.#slots);
    const once = Math.min(limit, Math.max(0, slots.once - this.#once));
    const often = Math.min(limit, Math.max(0, slots.often - this.#often));
    this.#once += once;
    this.#often += often;
    const end = (taken: readonly ClaimedJob[]): void => {
      this.#once -= once;
      this.#often -= often;
      for (const job of taken) this.#add(job);
    };
    return { once, often, end };
  }

  /** The run of a claimed job has ended. */
  runEnded(job: ClaimedJob): void {
    if (!this.#running.delete(job)) return;
    if (job.crashes === 1) this.#once -= 1;
    else this.#often -= 1;
    this.#wake();
  }

  get #slots(): number {
    return [...this.#members].reduce((total, { slots }) => total + slots, 0);
  }

  #add(job: ClaimedJob): void {
    if (job.crashes === 0) return;
    this.#running.add(job);
    if (job.crashes === 1) this.#once += 1;
    else this.#often += 1;
  }

  #wake(): void {
    for (const member of this.#members) member.wake();
  }
}

const KEY = Symbol.for("millrace.process");

/** The module may be loaded twice, for example by a hot reload: the id stays the same. */
function idOfThisProcess(): ProcessId {
  const known: unknown = Reflect.get(globalThis, KEY);
  if (typeof known === "string") return known;
  const id = newId(systemClock.now(), systemDice);
  Reflect.set(globalThis, KEY, id);
  return id;
}

/** The process in which this code runs. */
export const thisProcess: HostProcess = new HostProcess(idOfThisProcess());
