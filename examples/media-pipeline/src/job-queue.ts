/**
 * A job queue in one process on one SQLite file: what it does from its construction to its
 * shutdown. Everything that must not be lost is in the file; this object may be.
 */
import { jobqueue, MillraceError, openMillrace } from "millrace";
import type { Events, JobView, Millrace, Worker } from "millrace";
import { normalizeConfig, type JobQueueConfig, type QueueSettings } from "./config.ts";
import { createEventStream, type EventStreamOptions } from "./event-stream.ts";
import { readJob, type JobRecord } from "./job-record.ts";
import { removeMedia } from "./media-folder.ts";
import { MEDIA, mediaPipeline, type Media } from "./media-pipeline.ts";
import { resetActiveJobs } from "./reset-active-jobs.ts";
import { createRetryStrategy } from "./retry-strategy.ts";

export async function openJobQueue(config: JobQueueConfig): Promise<JobQueue> {
  // 1. Defaults for what the config leaves open.
  const settings = normalizeConfig(config);
  // 2. SQLite, in WAL mode. The preset makes errors fatal unless they are known to be recoverable.
  const mill = await openMillrace(`sqlite:${settings.file}`, { preset: jobqueue });
  try {
    return await startJobQueue(mill, settings);
  } catch (error) {
    await mill.close();
    throw error;
  }
}

async function startJobQueue(mill: Millrace, settings: QueueSettings): Promise<JobQueue> {
  const { concurrency, shutdownTimeout, folder, objects, fetch } = settings;
  // 3. The retry strategy, which is part of the job.
  const pipeline = mediaPipeline(createRetryStrategy(settings.retry));
  // 4. The worker pool.
  const pool = {
    jobs: [pipeline],
    lanes: { general: concurrency },
    grace: shutdownTimeout,
    deps: { folder, objects, fetch },
  };
  // 5. A webhook dispatcher would be made here; webhooks are not part of this release.
  // 6. What the last process left active has failed.
  const orphans = await resetActiveJobs(mill);
  // 7. The retention scheduler, and 8. the first pump: both begin with the worker.
  const worker = mill.work({ ...pool, retention: retentionOf(mill, settings) });
  await worker.ready;
  return new JobQueue({ mill, worker, pipeline, orphans });
}

/** A job's files go with the job. */
function retentionOf(mill: Millrace, { retention, folder }: QueueSettings) {
  return {
    ...retention,
    onDelete: async (job: JobView): Promise<void> => {
      await retention.onDelete?.(job);
      await removeMedia(mill, folder, job);
    },
  };
}

interface QueueParts {
  readonly mill: Millrace;
  readonly worker: Worker;
  readonly pipeline: ReturnType<typeof mediaPipeline>;
  readonly orphans: readonly string[];
}

export class JobQueue implements AsyncDisposable {
  /** Jobs that the last process left active. */
  readonly orphans: readonly string[];
  readonly #mill: Millrace;
  readonly #worker: Worker;
  readonly #pipeline: QueueParts["pipeline"];
  readonly #closed = new AbortController();
  #shutdown: Promise<void> | null = null;

  constructor({ mill, worker, pipeline, orphans }: QueueParts) {
    this.orphans = orphans;
    this.#mill = mill;
    this.#worker = worker;
    this.#pipeline = pipeline;
  }

  /** Durable first: the job is on disk when its id is answered. */
  async enqueue(data: Media, options: { readonly scheduledAt?: Date } = {}): Promise<string> {
    if (this.#shutdown !== null) throw new Error("the queue is shut down: it takes no new jobs");
    const { scheduledAt: runAt } = options;
    const job = await this.#mill.enqueue(
      this.#pipeline,
      data,
      runAt === undefined ? {} : { runAt },
    );
    return job.id;
  }

  getJob(id: string): Promise<JobRecord> {
    return readJob(this.#mill, id);
  }

  /** Resolves with the job once it is completed, failed or cancelled. */
  async finished(id: string): Promise<JobRecord> {
    await this.#mill.wait({ id, type: MEDIA });
    return this.getJob(id);
  }

  /**
   * Aborts the job's signal if it is active, and resolves when it has ended: usually cancelled, but
   * it may have been quicker. A job that is over stays as it is.
   */
  async cancel(id: string, reason?: string): Promise<JobRecord> {
    try {
      await this.#mill.jobs.cancel(id, reason);
    } catch (error) {
      if (!(error instanceof MillraceError && error.code === "JOB_OVER")) throw error;
    }
    return this.finished(id);
  }

  /** A failed job once more, as a new one that keeps the results of its finished phases. */
  async retry(id: string): Promise<string> {
    const job = await this.#mill.jobs.retry(id);
    return job.id;
  }

  on<E extends keyof Events>(event: E, listener: (event: Events[E]) => void): () => void {
    return this.#mill.on(event, listener);
  }

  /** The life of one job as server-sent events, from where it stands now. */
  createEventStream(
    id: string,
    options: Pick<EventStreamOptions, "pingMs"> = {},
  ): ReadableStream<Uint8Array> {
    const { signal } = this.#closed;
    return createEventStream(this.#mill, id, {
      ...options,
      signal,
      snapshot: () => this.getJob(id),
    });
  }

  /** Harmless when repeated. Rejects when a handler would not end in time, after the cleanup. */
  shutdown(): Promise<void> {
    this.#shutdown ??= this.#tearDown();
    return this.#shutdown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }

  async #tearDown(): Promise<void> {
    try {
      // Stops pump and retention, waits for active jobs, aborts what is left, and waits once more.
      await this.#worker.stop();
    } finally {
      // Whatever came of that. Closing ends all listening, and only then SQLite.
      this.#closed.abort();
      await this.#mill.close();
    }
  }
}
