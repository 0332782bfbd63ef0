/**
 * BullMQ, on PostgreSQL or on Redis. Best settings: as many concurrent jobs as help, and a pool as
 * large. It keeps finished jobs, as the others do that can.
 */
import { createPostgresBackend, Queue, QueueEvents, runMigrations, Worker } from "bullmq";
import type { RedisOptions } from "ioredis";
import { Pool } from "pg";
import type { Payload, System } from "../contestants/system.ts";

const QUEUE = "email";
const SLOTS = 50;
const POOL = 20;

export async function open(url: string): Promise<System> {
  const isPostgres = url.startsWith("postgres:");
  if (isPostgres) await migrate(url);
  const redis: RedisOptions = { host: "127.0.0.1", port: Number(new URL(url).port) };
  const options = { connection: isPostgres ? { connectionString: url, max: POOL } : redis };
  const backend = isPostgres ? [createPostgresBackend] : [];
  const queue = new Queue<Payload>(QUEUE, options, ...backend);
  queue.on("error", console.error);
  let events: QueueEvents | null = null;
  return {
    enqueue: (payload) => queue.add("send", payload),
    enqueueMany: (payloads, { delayMs }) =>
      queue.addBulk(
        payloads.map((payload) => ({
          name: "send",
          data: payload,
          ...(delayMs > 0 ? { opts: { delay: delayMs } } : {}),
        })),
      ),
    async result(payload) {
      events ??= new QueueEvents(QUEUE, options, ...backend);
      await events.waitUntilReady();
      const job = await queue.add("send", payload);
      return job.waitUntilFinished(events);
    },
    async work({ began, slots }) {
      const settings = { ...options, concurrency: slots ?? SLOTS };
      const worker = new Worker<Payload>(
        QUEUE,
        async (job) => began(job.data),
        settings,
        ...backend,
      );
      worker.on("error", console.error);
      await worker.waitUntilReady();
      return () => worker.close();
    },
    async close() {
      await events?.close();
      await queue.close();
    },
  };
}

async function migrate(url: string): Promise<void> {
  const pool = new Pool({ connectionString: url });
  const client = await pool.connect();
  await runMigrations(client);
  client.release();
  await pool.end();
}
