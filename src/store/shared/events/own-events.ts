/**
 * The events that this process has written itself, for readers of the feed in this process.
 *
 * A row of the feed names keys, and a reader wants id, type, tenant and state of every job. Reading
 * them for each event costs half of the time of a job that does nothing. The process that has
 * claimed a job and ended its first run knows them, and keeps them while the feed is read.
 *
 * An event is known by its job, its kind and its time, so that the events of other processes are
 * never mistaken for own ones. Only the plain case is kept: the first run of a job without notes,
 * and its success. All other events are read from the database.
 */
import type { JobId } from "../../../core/job.ts";
import type { Settlement } from "../../../core/outcome.ts";
import type { ClaimedJob, JobKey } from "../../types/jobs-and-runs.ts";
import type { EventKind, JobFacts } from "../../types/records.ts";

/** The jobs of one generation. Two generations are kept. */
const GENERATION_MAX = 2_500;
/** After so many claimed jobs without a reader, no events are kept. */
const UNREAD_MAX = 20_000;

/** What a reader wants to know of a job in an event. */
export interface OwnEvent {
  readonly id: JobId;
  readonly facts: JobFacts;
}

/** A run that has ended. */
interface OwnEnd {
  readonly key: JobKey;
  readonly settlement: Settlement;
}

interface OwnJob {
  readonly id: JobId;
  readonly type: string;
  readonly tenant: string;
  readonly correlationId: string;
  readonly tries: number;
  /** The time of the event. Null: there is no such event of this process. */
  readonly startedAt: number | null;
  completedAt: number | null;
  attempts: number;
  finishedAt: number;
}

export class OwnEvents {
  #young = new Map<JobKey, OwnJob>();
  #old = new Map<JobKey, OwnJob>();
  /** Jobs to keep until a reader must ask again. */
  #left = 0;

  /** A reader asks for facts: events from now on are kept. */
  asked(): void {
    this.#left = UNREAD_MAX;
  }

  get isWanted(): boolean {
    return this.#left > 0;
  }

  /** Jobs were claimed. `startedAt` is the time of the event; null: they have not started. */
  claimed(jobs: readonly ClaimedJob[], startedAt: number | null): void {
    if (!this.isWanted) return;
    this.#left -= jobs.length;
    if (this.#left <= 0) {
      this.#young = new Map();
      this.#old = new Map();
      return;
    }
    for (const job of jobs) this.#keep(job, startedAt);
    if (this.#young.size < GENERATION_MAX) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  /** A later run has the error of an earlier one, and maybe its progress. */
  #keep(job: ClaimedJob, startedAt: number | null): void {
    const { key, id, type, tenant, correlationId, tries } = job;
    if (job.n > 1 || job.isSuccessor) {
      this.forget(key);
      return;
    }
    this.#young.set(key, {
      id,
      type,
      tenant,
      correlationId,
      tries,
      startedAt,
      completedAt: null,
      attempts: 0,
      finishedAt: 0,
    });
  }

  /** Runs have ended. `at` is the time of their events. */
  ended(runs: readonly OwnEnd[], at: number, finishedAt: number = at): void {
    if (!this.isWanted) return;
    for (const { key, settlement } of runs) {
      const job = this.#jobOf(key);
      if (job === undefined || settlement.to !== "completed" || settlement.fault !== null) continue;
      job.completedAt = at;
      job.attempts = settlement.tries;
      job.finishedAt = finishedAt;
    }
  }

  /** The job has progress, which is not kept here, or was removed. */
  forget(key: JobKey): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** Null: the event is not an own one, or is kept no longer. */
  find(kind: EventKind, at: number, key: JobKey): OwnEvent | null {
    const job = this.#jobOf(key);
    if (job === undefined) return null;
    const { id } = job;
    if (kind === "job:started" && job.startedAt === at) {
      return { id, facts: factsOf(job, "running", job.tries, null) };
    }
    if (kind === "job:completed" && job.completedAt === at) {
      return { id, facts: factsOf(job, "completed", job.attempts, job.finishedAt) };
    }
    return null;
  }

  #jobOf(key: JobKey): OwnJob | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }
}

function factsOf(
  { type, tenant, correlationId }: OwnJob,
  state: JobFacts["state"],
  attempts: number,
  finishedAt: number | null,
): JobFacts {
  return {
    type,
    tenant,
    correlationId,
    state,
    attempts,
    runAt: null,
    finishedAt,
    fault: null,
    phase: null,
    overall: null,
  };
}
