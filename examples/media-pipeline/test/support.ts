/** A queue with the world around it, in a folder of its own: real files, real HTTP. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Events } from "millrace";
import type { JobQueueConfig } from "../src/config.ts";
import { openJobQueue, type JobQueue } from "../src/job-queue.ts";
import { startLoopback, type Loopback } from "../src/loopback.ts";
import { readEvents, type ServerEvent } from "../src/read-events.ts";

export interface Scene extends AsyncDisposable {
  readonly folder: string;
  readonly world: Loopback;
  /** URL of a tone that can be downloaded. */
  readonly tone: string;
  readonly config: JobQueueConfig;
  /** Opens the queue of this scene; it is shut down with it. */
  open(more?: Partial<JobQueueConfig>): Promise<JobQueue>;
  /** Keeps the next request of this method back, at a quarter of a download or after an upload. */
  hold(method: "GET" | "PUT", percent: 0 | 25 | 50 | 75 | 100): Hold;
}

export interface Hold {
  readonly reached: Promise<void>;
  readonly release: () => void;
}

export async function openScene(): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), "media-pipeline-"));
  const holds: HoldAt[] = [];
  const queues: JobQueue[] = [];
  const world = await startLoopback({
    folder: join(folder, "objects"),
    async pace(request, percent) {
      const place = holds.findIndex(
        (hold) => request.startsWith(hold.method) && percent === hold.percent,
      );
      const [hold] = place < 0 ? [] : holds.splice(place, 1);
      hold?.reach();
      await hold?.released;
    },
  });
  const config: JobQueueConfig = {
    file: join(folder, "queue.db"),
    folder: join(folder, "work"),
    objects: world.objects,
    retry: { backoff: { kind: "fixed", base: "10ms" } },
    // A test that ends early does not wait for what it has held.
    shutdownTimeout: "1s",
  };
  return {
    folder,
    world,
    tone: `${world.media}/440.wav`,
    config,
    async open(more = {}) {
      const queue = await openJobQueue({ ...config, ...more });
      queues.push(queue);
      return queue;
    },
    hold(method, percent) {
      const hold = makeHold(method, percent);
      holds.push(hold);
      return hold;
    },
    async [Symbol.asyncDispose]() {
      for (const queue of queues) await queue.shutdown().catch(() => {});
      await world[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

interface HoldAt extends Hold {
  readonly method: string;
  readonly percent: number;
  readonly released: Promise<void>;
  readonly reach: () => void;
}

function makeHold(method: string, percent: number): HoldAt {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  return {
    method,
    percent,
    reached: reached.promise,
    released: released.promise,
    reach: reached.resolve,
    release: released.resolve,
  };
}

/** Resolves when a job has come this far as a whole. */
export function arrived(queue: JobQueue, percent: number): Promise<void> {
  return new Promise((resolve) => {
    const off = queue.on("job:progress", ({ overall }) => {
      if (overall !== percent) return;
      off();
      resolve();
    });
  });
}

/** The next event of this name, of any job or of one. */
export function heard<E extends keyof Events>(
  queue: JobQueue,
  name: E,
  id?: string,
): Promise<Events[E]> {
  return new Promise((resolve) => {
    const off = queue.on(name, (event) => {
      if (id !== undefined && event.id !== id) return;
      off();
      resolve(event);
    });
  });
}

const FINAL = new Set(["job:completed", "job:failed", "job:cancelled"]);

/** Everything the event stream of a job tells until the job has ended. */
export async function story(queue: JobQueue, id: string): Promise<readonly ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of readEvents(queue.createEventStream({ job: id }))) {
    events.push(event);
    if (FINAL.has(event.event)) break;
  }
  return events;
}
