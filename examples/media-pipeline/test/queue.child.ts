/**
 * A queue in a process of its own, for tests that kill it or ask it to stop. Says what happens, one
 * word or two a line. It ends by itself once the queue is shut down, if nothing is left behind.
 */
import { MillraceError } from "millrace";
import type { JobQueueConfig } from "../src/config.ts";
import { openJobQueue, type JobQueue } from "../src/job-queue.ts";

export interface ChildOrder {
  readonly config: JobQueueConfig;
  readonly source: string;
  /** How often it is enqueued. Default: once. */
  readonly times?: number;
  /** Downloads do not listen to their signal. */
  readonly isDeaf?: boolean;
}

// Never longer than the test that has started it.
process.stdin.once("end", () => process.exit(2)).resume();

await main(JSON.parse(process.argv[2] ?? ""));

async function main({ config, source, times = 1, isDeaf = false }: ChildOrder): Promise<void> {
  if ("unref" in process.stdin) process.stdin.unref();
  const queue = await openJobQueue(isDeaf ? { ...config, fetch: deafFetch } : config);
  process.once("SIGTERM", () => void close(queue));
  for (let time = 0; time < times; time += 1) say(`enqueued ${await queue.enqueue({ source })}`);
}

/** Says how the shutdown ended, and then that of the store, which is closed in any case. */
async function close(queue: JobQueue): Promise<void> {
  say("closing");
  await queue.shutdown().then(
    () => say("closed"),
    (error) => say(codeOf(error)),
  );
  await queue.retry("01M7HY5V61E2M9NQKM4KHR6DNS").catch((error) => say(codeOf(error)));
}

function deafFetch(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  return fetch(input, { ...init, signal: null });
}

function codeOf(error: unknown): string {
  return error instanceof MillraceError ? error.code : String(error);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
