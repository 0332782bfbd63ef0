/** Clients that never read beside one that does, and the end of a server with many streams. */
import { setTimeout as sleep } from "node:timers/promises";
import { defineJob, openMillrace, typed, type Millrace } from "millrace";
import { openStore } from "../databases.ts";
import { until } from "../until.ts";
import { compare, entriesAfter, eventsIn, type FeedFindings } from "./feed-check.ts";
import { openRawStreams } from "./raw-streams.ts";
import {
  connectionsOf,
  freePort,
  residentMb,
  startServer,
  type ServerProcess,
} from "./server-process.ts";
import { SseClient } from "./sse-client.ts";

const ARRIVAL_MS_MAX = 60_000;
const SAMPLE_MS = 250;
const SETTLE_MS = 3_000;
const BATCH = 10;
const STREAM = { path: "/api/v1/events?snapshot=false", reads: false };

/** Its progress is as large as its payload. */
const large = defineJob({ type: "large", payload: typed<{ text: string }>() }).run(
  async (payload, ctx) => {
    await ctx.progress(50, { data: { text: payload.text } });
  },
);

export interface StalledOptions {
  readonly clients: number;
  readonly changes: number;
  /** Characters of every progress event. */
  readonly chars: number;
  readonly seconds: number;
}

export interface StalledReport {
  readonly healthy: FeedFindings & { readonly events: number };
  /** The bytes of the stream, which every client would get. */
  readonly streamMb: number;
  readonly beforeMb: number;
  readonly peakMb: number;
  /** After half of the changes, and after all. */
  readonly halfMb: number;
  readonly afterMb: number;
  /** Stalled clients that the server has cut off. */
  readonly cut: number;
  /** From SIGTERM to the exit, with the stalled clients that are left. */
  readonly stopMs: number;
  readonly exit: number | NodeJS.Signals;
}

export async function stalledRound(url: string, options: StalledOptions): Promise<StalledReport> {
  const { clients, changes, chars, seconds } = options;
  await using server = await startServer({ url, port: await freePort() });
  const healthy = new SseClient(`${server.origin}/api/v1/events`);
  const [gauge] = await openRawStreams(server.origin, 1, { ...STREAM, reads: true });
  const begun = await healthy.begun;
  await using mill = await openMillrace(url);
  await using worker = mill.work({ jobs: [large], signals: false });
  await worker.ready;
  // The server has grown to its usual size before it is measured.
  await runJobs(mill, changes, chars, healthy);
  const beforeMb = residentMb(server.pid);
  const stalled = await openRawStreams(server.origin, clients, STREAM);
  const opened = connectionsOf(server.origin);
  const startedAt = performance.now();
  const bytes = gauge!.bytes();
  using memory = watchMemory(server);
  await runJobs(mill, changes / 2, chars, healthy);
  await sleep(SETTLE_MS);
  const halfMb = residentMb(server.pid);
  await runJobs(mill, changes / 2, chars, healthy);
  const streamMb = (gauge!.bytes() - bytes) / 1_048_576;
  await sleep(Math.max(0, seconds * 1_000 - (performance.now() - startedAt)));
  const afterMb = residentMb(server.pid);
  const cut = opened - connectionsOf(server.origin);
  const peakMb = memory.peakMb();
  const findings = await findingsOf(url, Number(begun), healthy);
  const { stopMs, exit } = await stopped(server);
  await healthy.stop();
  for (const { socket } of [...stalled, gauge!]) socket.destroy();
  const events = healthy.received.length;
  return {
    healthy: { ...findings, events },
    streamMb,
    beforeMb,
    peakMb,
    halfMb,
    afterMb,
    cut,
    stopMs,
    exit,
  };
}

/** Runs jobs, and waits until the client has the end of each. */
async function runJobs(
  mill: Millrace,
  count: number,
  chars: number,
  client: SseClient,
): Promise<void> {
  const ends = (): number => client.received.filter(({ name }) => name === "job:completed").length;
  const wanted = ends() + count;
  const text = "x".repeat(chars);
  for (let n = 0; n < count; n += BATCH) {
    await mill.enqueueMany(Array.from({ length: BATCH }, () => large.of({ text })));
    await sleep(20);
  }
  await until("the healthy client has all ends", ARRIVAL_MS_MAX, () => ends() >= wanted);
}

function watchMemory({ pid }: ServerProcess): Disposable & { readonly peakMb: () => number } {
  let peak = 0;
  const sample = (): void => {
    peak = Math.max(peak, residentMb(pid));
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return { peakMb: () => peak, [Symbol.dispose]: () => clearInterval(timer) };
}

async function findingsOf(
  url: string,
  begun: number,
  { received }: SseClient,
): Promise<FeedFindings> {
  const store = await openStore(url);
  try {
    return compare(
      eventsIn(await entriesAfter(store, begun), () => true),
      received,
    );
  } finally {
    await store.close();
  }
}

/** From SIGTERM to the exit. */
async function stopped(
  server: ServerProcess,
): Promise<{ readonly stopMs: number; readonly exit: number | NodeJS.Signals }> {
  const startedAt = performance.now();
  server.kill("SIGTERM");
  const exit = await server.ended;
  return { stopMs: performance.now() - startedAt, exit };
}

/** How long a server takes to stop with so many open streams, all of which are read. */
export async function stopWithStreams(
  url: string,
  count: number,
): Promise<{ readonly stopMs: number; readonly exit: number | NodeJS.Signals; ended: number }> {
  await using server = await startServer({ url, port: await freePort() });
  const streams = await openRawStreams(server.origin, count, { ...STREAM, reads: true });
  const answer = await stopped(server);
  await until("all clients are told", ARRIVAL_MS_MAX, () => streams.every((one) => one.isClosed()));
  return { ...answer, ended: streams.length };
}
