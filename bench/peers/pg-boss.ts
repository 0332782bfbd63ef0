/**
 * pg-boss on PostgreSQL, tuned: batches of 500, two local workers, no pause while batches are full,
 * woken by NOTIFY, no maintenance or cron beside the work. (`overrides` in package.json pins a part
 * of its cron rules, of which not every registry has the newest version.)
 */
import { PgBoss } from "pg-boss";
import type { System } from "../contestants/system.ts";

const QUEUE = "email";
const BATCH = 500;
const WORKERS = 2;

export async function open(url: string): Promise<System> {
  const boss = new PgBoss({
    connectionString: url,
    supervise: false,
    schedule: false,
    useListenNotify: true,
  });
  boss.on("error", console.error);
  await boss.start();
  await boss.createQueue(QUEUE, { notify: true });
  return {
    enqueue: (payload) => boss.send(QUEUE, payload),
    enqueueMany: (payloads, { delayMs }) =>
      boss.insert(
        QUEUE,
        payloads.map((payload) => ({
          data: payload,
          ...(delayMs > 0 ? { startAfter: delayMs / 1000 } : {}),
        })),
      ),
    async work({ began, slots }) {
      const options = {
        batchSize: slots ?? BATCH,
        localConcurrency: WORKERS,
        burstWhenBatchFull: true,
        pollingIntervalSeconds: 0.5,
      };
      await boss.work(QUEUE, options, async (jobs) => {
        for (const job of jobs) await began(job.data);
      });
      return () => boss.offWork(QUEUE, { wait: true });
    },
    close: () => boss.stop({ graceful: false }),
  };
}
