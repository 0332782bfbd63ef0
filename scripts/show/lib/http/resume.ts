/** Clients of server-sent events while their server is killed and started again. */
import { setTimeout as sleep } from "node:timers/promises";
import { defineJob, openMillrace, typed, type Millrace } from "millrace";
import { openStore } from "../databases.ts";
import { until } from "../until.ts";
import { compare, entriesAfter, eventsIn, type FeedFindings } from "./feed-check.ts";
import { freePort, startServer, type ServerProcess } from "./server-process.ts";
import { SseClient } from "./sse-client.ts";

const DOWN_MS = 300;
const ARRIVAL_MS_MAX = 60_000;
/** At least: a job is enqueued, starts and completes. */
const EVENTS_PER_JOB = 3;
const BATCH = 10;
const BATCH_MS = 25;

const main = defineJob({ type: "main", payload: typed<number>() }).run(async (n, ctx) => {
  await ctx.progress(50, { data: { n } });
});
const side = defineJob({ type: "side", payload: typed<number>() }).run(async () => {});

export interface ResumeReport {
  readonly store: string;
  /** By the filter of the client. */
  readonly clients: readonly (FeedFindings & {
    readonly filter: string;
    readonly events: number;
    readonly connections: number;
    readonly resets: number;
  })[];
  readonly entries: number;
  readonly kills: number;
  readonly ms: number;
}

/** `changes` jobs are enqueued and run while the server is killed `kills` times. */
export async function resumeRound(
  url: string,
  { changes, kills }: { readonly changes: number; readonly kills: number },
): Promise<ResumeReport> {
  const startedAt = performance.now();
  const port = await freePort();
  let server = await startServer({ url, port });
  const address = `${server.origin}/api/v1/events`;
  const filters = ["", "?type=main", "?event=job:completed&event=job:enqueued"];
  const clients = filters.map((filter) => new SseClient(address + filter));
  const begun = await Promise.all(clients.map((client) => client.begun));
  await using mill = await openMillrace(url);
  const types = new Map<string, string>();
  const [first] = clients;
  {
    await using worker = mill.work({ jobs: [main, side], signals: false });
    await worker.ready;
    const enqueued = enqueueAll(mill, changes, types);
    for (let kill = 1; kill <= kills; kill += 1) {
      const events = (EVENTS_PER_JOB * changes * kill) / (kills + 1);
      await until("changes arrive", ARRIVAL_MS_MAX, () => first!.received.length >= events);
      server = await restarted(server, url, port);
    }
    await enqueued;
    await until("all jobs are done", ARRIVAL_MS_MAX, () => isDone(mill));
  }
  const store = await openStore(url);
  const reports = [];
  for (const [turn, client] of clients.entries()) {
    const entries = await entriesAfter(store, Number(begun[turn]));
    const wanted = wantedOf(
      filters[turn]!,
      eventsIn(entries, () => true),
      types,
    );
    const last = wanted.at(-1)?.split(" ")[0] ?? "";
    await until(`the event ${last} arrives`, ARRIVAL_MS_MAX, () =>
      client.received.some(({ id }) => id.startsWith(`${last}.`)),
    );
    const { connections, resets } = client;
    const found = compare(wanted, client.received);
    const events = client.received.length;
    reports.push({ filter: filters[turn]! || "all", events, connections, resets, ...found });
  }
  const entries = (await entriesAfter(store, Number(begun[0]))).length;
  await Promise.all(clients.map((client) => client.stop()));
  await server[Symbol.asyncDispose]();
  await store.close();
  const ms = performance.now() - startedAt;
  return { store: new URL(url).protocol, clients: reports, entries, kills, ms };
}

async function enqueueAll(
  mill: Millrace,
  changes: number,
  types: Map<string, string>,
): Promise<void> {
  for (let n = 0; n < changes; n += BATCH) {
    const jobs = Array.from({ length: Math.min(BATCH, changes - n) }, (_, turn) =>
      (n + turn) % 3 === 0 ? side.of(n + turn) : main.of(n + turn),
    );
    const answers = await mill.enqueueMany(jobs);
    for (const [turn, { id }] of answers.entries()) {
      types.set(id, (n + turn) % 3 === 0 ? "side" : "main");
    }
    await sleep(BATCH_MS);
  }
}

async function restarted(server: ServerProcess, url: string, port: number): Promise<ServerProcess> {
  server.kill("SIGKILL");
  await server.ended;
  await sleep(DOWN_MS);
  return startServer({ url, port });
}

async function isDone(mill: Millrace): Promise<boolean> {
  const open = await Promise.all(
    (["queued", "running", "scheduled"] as const).map((state) => mill.jobs.count({ state })),
  );
  return open.every(({ count }) => count === 0);
}

function wantedOf(
  filter: string,
  events: readonly string[],
  types: ReadonlyMap<string, string>,
): readonly string[] {
  return events.filter((event) => {
    const [, name = "", job = ""] = event.split(" ");
    if (filter.startsWith("?type=")) return types.get(job) === filter.slice("?type=".length);
    return filter === "" || filter.includes(`event=${name}`);
  });
}
