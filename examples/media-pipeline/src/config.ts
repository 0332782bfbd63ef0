/** What a job queue may be told, and what it does when it is told nothing. */
import type { Duration, JobSettings, JobView } from "millrace";

export interface JobQueueConfig {
  /** The SQLite file. It is made if there is none. */
  readonly file: string;
  /** Where media lie between two phases. */
  readonly folder: string;
  /** Where results go: `PUT <objects>/<sha256>.wav`. */
  readonly objects: string;
  /** Size of the worker pool. */
  readonly concurrency?: number;
  readonly retry?: Partial<RetryConfig>;
  /** Without it, finished jobs are removed after a week, in one step. */
  readonly retention?: RetentionConfig;
  /** How long a shutdown waits for active jobs before it aborts them. */
  readonly shutdownTimeout?: Duration;
  readonly fetch?: typeof fetch;
}

export interface RetryConfig {
  /** Counts the first attempt. */
  readonly maxAttempts: number;
  readonly backoff: NonNullable<JobSettings["backoff"]>;
}

export interface RetentionConfig {
  readonly staleAfter: Duration;
  readonly deleteAfter: Duration;
  readonly onStale?: (job: JobView) => unknown;
  readonly onDelete?: (job: JobView) => unknown;
}

export type QueueSettings = Required<Omit<JobQueueConfig, "retention" | "retry">> & {
  readonly retry: RetryConfig;
  readonly retention: RetentionConfig;
};

const RETRY_DEFAULT: RetryConfig = {
  maxAttempts: 3,
  backoff: { kind: "exponential", base: "2s" },
};

export function normalizeConfig(config: JobQueueConfig): QueueSettings {
  return {
    concurrency: 2,
    shutdownTimeout: "10s",
    // Looked up at each call, so that a replaced global one is used.
    fetch: (...args) => fetch(...args),
    ...config,
    retry: { ...RETRY_DEFAULT, ...config.retry },
    retention: { staleAfter: "7d", deleteAfter: "7d", ...config.retention },
  };
}
