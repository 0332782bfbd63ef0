/**
 * A tour through one queue: a file that goes through, one whose upload needs a second attempt, one
 * that does not exist, and one that is cancelled. Ctrl-C shuts the queue down with care.
 *
 *     npm run example:media
 */
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openJobQueue, type JobQueue } from "./job-queue.ts";
import { serveLivePage } from "./live-page.ts";
import { startLoopback, type Loopback } from "./loopback.ts";
import { readEvents, type ServerEvent } from "./read-events.ts";

/** Kept from tour to tour, so that a tour that was killed leaves something to reset. */
const FOLDER = join(".millrace", "media-pipeline");
/** The same each time, because jobs that a shutdown has put back know their source by its URL. */
const PORT = Number(process.env["PORT"] ?? 7334);
/** The source of the job that is cancelled. */
const CANCELLED = "660.wav";
const FINAL = new Set(["job:completed", "job:failed", "job:cancelled"]);

await main();

async function main(): Promise<void> {
  await using world = await startLoopback({
    folder: join(FOLDER, "objects"),
    port: PORT,
    // So slowly that it can be watched. The job that is cancelled must not end before.
    pace: (request) => wait(request.includes(CANCELLED) ? 2_000 : 100),
  });
  await using queue = await openJobQueue({
    file: join(FOLDER, "queue.db"),
    folder: join(FOLDER, "work"),
    objects: world.objects,
    retry: { maxAttempts: 3, backoff: { kind: "fixed", base: "500ms" } },
    retention: { staleAfter: "1h", deleteAfter: "1d" },
    shutdownTimeout: "2s",
  });
  for (const id of queue.orphans) say("reset", `job ${id} was active when the last process died`);

  await using page = await serveLivePage(queue);
  say("live page", page.link);
  await Promise.race([tour(queue, world), untilAskedToStop()]);
  say("shutdown", "wait for active jobs, abort the rest, close SQLite");
}

function untilAskedToStop(): Promise<void> {
  return new Promise((resolve) => {
    // They stay: a second Ctrl-C must not cut the shutdown short.
    process.on("SIGINT", () => resolve()).on("SIGTERM", () => resolve());
  });
}

async function tour(queue: JobQueue, world: Loopback): Promise<void> {
  const well = await queue.enqueue({ source: `${world.media}/440.wav` });
  await follow(queue, "440.wav", well);

  world.refuse("PUT", 503);
  const unlucky = await queue.enqueue({ source: `${world.media}/550.wav` });
  await follow(queue, "550.wav", unlucky);

  const missing = await queue.enqueue({ source: `${world.media}/missing.wav` });
  await follow(queue, "missing.wav", missing);

  const unwanted = await queue.enqueue({ source: `${world.media}/${CANCELLED}` });
  await follow(queue, CANCELLED, unwanted, async ({ event }) => {
    if (event === "job:progress") await queue.cancel(unwanted);
  });

  const { phaseResults } = await queue.getJob(well);
  say("stored", JSON.stringify(phaseResults["upload"]));
}

/** Says what happens to one job until it has ended. */
async function follow(
  queue: JobQueue,
  name: string,
  id: string,
  react: (event: ServerEvent) => Promise<void> = async () => {},
): Promise<void> {
  for await (const event of readEvents(queue.createEventStream({ job: id }))) {
    say(name, sentenceOf(event));
    if (FINAL.has(event.event)) return;
    await react(event);
  }
}

function sentenceOf({ event, data }: ServerEvent): string {
  switch (event) {
    case "snapshot":
      return `snapshot: ${data.status}, ${data.overallProgress} %`;
    case "job:progress":
      return `${event} ${data.phase} ${data.percent} → overall ${data.overall} %`;
    case "job:phase:completed":
      return `${event} ${data.phase}`;
    case "job:failed":
      return `${event} ${data.error.message}`;
    default:
      return event;
  }
}

function say(subject: string, sentence: string): void {
  process.stdout.write(`${subject.padEnd(12)} ${sentence}\n`);
}
