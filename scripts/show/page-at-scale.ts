/**
 * The dashboard on a large installation: a cold page in a browser whose CPU is slowed down, and the
 * claims of workers beside many pages.
 *
 *     node --conditions=source scripts/show/page-at-scale.ts [--store postgres] [--rounds 5]
 *         [--finished 1000000] [--waiting 100000] [--slowdown 4] [--clients 10] [--jobs 200]
 *
 * Every opening of a page is cold: a new browser context without a cache. The times are those of
 * the page's own clock, from the navigation to the first paint and to the first rows of the list.
 * Then a browser walks through the screens while jobs flow; its requests are recorded, and clients
 * repeat them, with their gaps and one stream each, while another process measures claims.
 *
 * Sound: with the clients, the p99 from `enqueue` to the start of the handler is at most 1.2 times
 * the p99 without them.
 */
import { loadavg } from "node:os";
import { openMillrace } from "millrace";
import { startBrowser } from "../../test/http/browser.ts";
import { table } from "../lib/table.ts";
import { fillBacklog } from "./lib/backlog/fill.ts";
import { Places } from "./lib/databases.ts";
import { LatencyWorker } from "./lib/http/claim-latency.ts";
import { startServer } from "./lib/http/server-process.ts";
import { numbersAndStores, type StoreKind } from "./lib/options.ts";
import { ColdBrowser, type Opening } from "./lib/page/cold-browser.ts";
import { recordScreens, replay } from "./lib/page/recorded.ts";
import { percentile } from "./lib/percentile.ts";
import { onStage } from "./lib/run-stages.ts";

const options = numbersAndStores("page-at-scale.ts", {
  finished: 1_000_000,
  waiting: 100_000,
  rounds: 5,
  slowdown: 4,
  clients: 10,
  jobs: 200,
  rate: 20,
});
const RATIO_MAX = 1.2;
const PAGE_JOBS = 50;
const PAGES = 100;

/** Every key of the query bar and every state. Where no job has it, the whole search is paid. */
const FILTERS = [
  "state:completed",
  "state:failed",
  "state:queued",
  "state:running",
  "state:scheduled",
  "state:retrying",
  "state:completed_with_errors",
  "state:cancelled",
  "running>1m",
  "type:rare",
  "type:report state:failed",
  "type:email state:completed",
  "tenant:default",
  "lane:general",
  "category:mail",
  "tag.area:media",
  "correlation:checkout-42",
  "parent:01M7TXSBKZEQMBQTM9199MY4E3",
  "age<1h",
  "age>1d",
  'error:"refused"',
  "payload.to=ada@example.com",
  "payload.to=grace@example.com",
  "000000777777",
] as const;

await onStage(async () => {
  let sound = true;
  for (const kind of options.stores) sound = (await measure(kind)) && sound;
  return { sound };
});

async function measure(kind: StoreKind): Promise<boolean> {
  await using places = await Places.open(kind, { durable: true });
  const url = places.next();
  await (await openMillrace(url)).close();
  await fillBacklog(url, options);
  await using server = await startServer({ url, port: 0 });
  await using mill = await openMillrace(url);
  const { secret } = await mill.tokens.create({
    kind: "person",
    name: "ada",
    roles: ["viewer", "operator", "manager", "admin"],
  });
  const chromium = await startBrowser();
  if (typeof chromium === "string") throw new Error(`Chromium cannot start: ${chromium}`);
  const browser = await ColdBrowser.signIn(chromium, server.origin, secret, options.slowdown);
  try {
    console.log(`${kind}, load ${loadOf()}: ${options.finished} finished, ${options.waiting} due`);
    const { jobs } = await mill.jobs.list({ limit: PAGE_JOBS });
    const after = await cursorOfPage(server.origin, secret, PAGES);
    await showOpenings(browser, after, jobs.length);
    await using worker = await LatencyWorker.start(url);
    const requests = await recordScreens(browser, worker, mill);
    console.log(`${requests.length} requests of ${requests.at(-1)?.atMs ?? 0} ms are repeated`);
    const beside = () => replay(server.origin, secret, options.clients, requests);
    return await showClaims(worker, mill, beside);
  } finally {
    await chromium.close();
  }
}

async function showOpenings(browser: ColdBrowser, after: string, rows: number): Promise<void> {
  const places = new Map<string, string>([
    ["overview", "overview"],
    [`jobs, first page (${rows} rows)`, "jobs"],
    [`jobs, page ${PAGES}`, `jobs?after=${encodeURIComponent(after)}`],
    ...FILTERS.map((q) => [`jobs, ${q}`, `jobs?q=${encodeURIComponent(q)}`] as const),
  ]);
  const lines: string[][] = [];
  for (const [name, place] of places) {
    const openings: Opening[] = [];
    for (let round = 0; round < options.rounds; round += 1)
      openings.push(await browser.open(place));
    const first = openings[0];
    lines.push([
      name,
      spread(openings.map(({ paintMs }) => paintMs)),
      spread(openings.map(({ shownMs }) => shownMs)),
      String(first?.requests ?? ""),
      String(first?.kilobytes ?? ""),
      first?.said ?? "",
    ]);
  }
  const head = ["page", "first paint, ms", "first rows, ms", "requests", "kB", "shown"];
  for (const line of table(head, lines)) console.log(line);
}

/** The rounds with and without clients take turns, so that both have the same load. */
async function showClaims(
  worker: LatencyWorker,
  mill: Awaited<ReturnType<typeof openMillrace>>,
  beside: () => Promise<AsyncDisposable & { readonly answered: () => number }>,
): Promise<boolean> {
  const { jobs, rate, rounds } = options;
  await worker.measure(mill, jobs, rate);
  const alone: number[] = [];
  const observed: number[] = [];
  const ratios: number[] = [];
  let answers = 0;
  for (let round = 0; round < rounds; round += 1) {
    const without = await worker.measure(mill, jobs, rate);
    await using clients = await beside();
    const withClients = await worker.measure(mill, jobs, rate);
    answers += clients.answered();
    alone.push(...without);
    observed.push(...withClients);
    ratios.push(percentile(withClients, 0.99) / percentile(without, 0.99));
  }
  const row = (name: string, times: readonly number[]): string[] => [
    name,
    percentile(times, 0.5).toFixed(2),
    percentile(times, 0.99).toFixed(2),
  ];
  const lines = [row("alone", alone), row(`beside ${options.clients} clients`, observed)];
  for (const line of table(["enqueue → start", "p50 ms", "p99 ms"], lines)) console.log(line);
  const ratio = percentile(observed, 0.99) / percentile(alone, 0.99);
  console.log(
    `p99 ratio ${ratio.toFixed(2)} (rounds ${spread(ratios, 2)}), wanted ≤ ${RATIO_MAX}; ` +
      `${answers} answers to the clients; load ${loadOf()}`,
  );
  return ratio <= RATIO_MAX;
}

/** Follows the cursors of the list, as a person who goes to older jobs page by page. */
async function cursorOfPage(origin: string, token: string, page: number): Promise<string> {
  let after: string | null = null;
  for (let each = 1; each < page; each += 1) {
    const query: string = after === null ? "" : `&after=${encodeURIComponent(after)}`;
    const answer = await fetch(`${origin}/api/v1/jobs?limit=${PAGE_JOBS}${query}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const body: { readonly next: string | null } = JSON.parse(await answer.text());
    if (body.next === null) throw new Error(`the list has only ${each} pages`);
    after = body.next;
  }
  return after ?? "";
}

function spread(values: readonly number[], digits = 0): string {
  const [low, middle, high] = [0, 0.5, 1].map((share) => percentile(values, share).toFixed(digits));
  return `${middle} [${low}–${high}]`;
}

function loadOf(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
