/**
 * A job queue in one process on one SQLite file: what it does from its construction to its
 * shutdown. Everything that must not be lost is in the file; this object may be.
 */
import { jobqueue, MillraceError, openMillrace } from "millrace";
import type { Events, JobView, Millrace, Worker } from "millrace";
import { createHandler, type HandlerOptions } from "millrace/http";
import { normalizeConfig, type JobQueueConfig, type QueueSettings } from "./config.ts";
import { createEventStream, type EventStreamOptions } from "./event-stream.ts";
import { readJob, type JobRecord } from "./job-record.ts";
import { removeMedia } from "./media-folder.ts";
import { MEDIA, mediaPipeline, type Media } from "./media-pipeline.ts";
import { resetActiveJobs } from "./reset-active-jobs.ts";
import { createRetryStrategy } from "./retry-strategy.ts";

export class JobQueue implements AsyncDisposable {
  /** Resolves when the queue runs jobs; rejects when it cannot be opened. */
  readonly ready: Promise<void>;
  readonly #opened: Promise<QueueParts>;
  /** Null until the queue is open. */
  #parts: QueueParts | null = null;
  #shutdown: Promise<void> | null = null;

  /** Begins to open the queue. Its methods wait until it is open. */
  constructor(config: JobQueueConfig) {
    this.#opened = open(normalizeConfig(config));
    this.ready = this.#begin();
    // A queue that no caller uses must not end the process; each method tells what went wrong.
    this.ready.catch(() => {});
  }

  async #begin(): Promise<void> {
    this.#parts = await this.#opened;
  }

  /** Jobs that the last process left active; known once the queue is ready. */
  get orphans(): readonly string[] {
    return this.#parts?.orphans ?? [];
  }

  /** Durable first: the job is on disk when its id is answered. */
  async enqueue(data: Media, options: { readonly scheduledAt?: Date } = {}): Promise<string> {
    if (this.#shutdown !== null) throw new Error("the queue is shut down: it takes no new jobs");
    const { mill, pipeline } = await this.#opened;
    const { scheduledAt: runAt } = options;
    const job = await mill.enqueue(pipeline, data, runAt === undefined ? {} : { runAt });
    return job.id;
  }

  async getJob(id: string): Promise<JobRecord> {
    return readJob((await this.#opened).mill, id);
  }

  /** Resolves with the job once it is completed, failed or cancelled. */
  async finished(id: string): Promise<JobRecord> {
    const { mill } = await this.#opened;
    await mill.wait({ id, type: MEDIA });
    return this.getJob(id);
  }

  /**
   * Aborts the job's signal if it is active, and resolves when it has ended: usually cancelled, but
   * it may have been quicker. A job that is over stays as it is.
   */
  async cancel(id: string, reason?: string): Promise<JobRecord> {
    const { mill } = await this.#opened;
    try {
      await mill.jobs.cancel(id, reason);
    } catch (error) {
      if (!(error instanceof MillraceError && error.code === "JOB_OVER")) throw error;
    }
    return this.finished(id);
  }

  /** A failed job once more, as a new one that keeps the results of its finished phases. */
  async retry(id: string): Promise<string> {
    const { mill } = await this.#opened;
    const job = await mill.jobs.retry(id);
    return job.id;
  }

  /** From the moment on at which the queue is ready. */
  on<E extends keyof Events>(event: E, listener: (event: Events[E]) => void): () => void {
    if (this.#parts !== null) return this.#parts.mill.on(event, listener);
    let off: (() => void) | null = null;
    let isOver = false;
    const listen = ({ mill }: QueueParts): void => {
      if (!isOver) off = mill.on(event, listener);
    };
    this.#opened.then(listen, () => {});
    return () => {
      isOver = true;
      off?.();
    };
  }

  /** The life of the whole queue, or of one job, as server-sent events. */
  createEventStream(options: EventStreamOptions = {}): ReadableStream<Uint8Array> {
    const source = this.#opened.then(({ mill }) => ({
      mill,
      record: ({ id }: JobView) => readJob(mill, id),
    }));
    return createEventStream(source, options);
  }

  /** The HTTP API of Millrace over this queue, for the page of the queue. */
  createHandler(options: Omit<HandlerOptions, "mill">): (request: Request) => Promise<Response> {
    const handler = this.#opened.then(({ mill }) => createHandler({ ...options, mill }));
    handler.catch(() => {});
    return async (request) => (await handler)(request);
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
    const { mill, worker } = await this.#opened;
    try {
      // Stops pump and retention, waits for active jobs, aborts what is left, and waits once more.
      await worker.stop();
    } finally {
      // Also after a failed stop. Closing ends all listening and all streams, and only then SQLite.
      await mill.close();
    }
  }
}

/** The queue, once it runs jobs. */
export async function openJobQueue(config: JobQueueConfig): Promise<JobQueue> {
  const queue = new JobQueue(config);
  await queue.ready;
  return queue;
}

interface QueueParts {
  readonly mill: Millrace;
  readonly worker: Worker;
  readonly pipeline: ReturnType<typeof mediaPipeline>;
  readonly orphans: readonly string[];
}

/** What happens at construction. 1. The config has its defaults already. */
async function open(settings: QueueSettings): Promise<QueueParts> {
  // 2. SQLite, in WAL mode. The preset makes errors fatal unless they are known to be recoverable.
  const mill = await openMillrace(`sqlite:${settings.file}`, { preset: jobqueue });
  try {
    return await start(mill, settings);
  } catch (error) {
    await mill.close();
    throw error;
  }
}

async function start(mill: Millrace, settings: QueueSettings): Promise<QueueParts> {
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
  return { mill, worker, pipeline, orphans };
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
