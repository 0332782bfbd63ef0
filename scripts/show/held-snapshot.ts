/**
 * Start delay on PostgreSQL while another connection holds a snapshot open: no dead row can be
 * vacuumed meanwhile. 8 slots, handlers of 2 ms, and a producer of `--rate` jobs a second.
 *
 *     node --conditions=source scripts/show/held-snapshot.ts [--seconds 60] [--rate 1000]
 *
 * Prints p50 and p99 of the time from `enqueue` to the handler for every 20 seconds, and the pages
 * of tables and indexes that the server was asked for per job: 20 seconds before the snapshot, then
 * `--seconds` with the snapshot. Sound: no figure exceeds the figure before the snapshot by more
 * than half. The rate is lowered if the machine cannot hold it. Other load on the machine changes
 * the times, but not the pages.
 */
import { loadavg } from "node:os";
import type { Client } from "pg";
import { connect, startPostgres } from "../../test/support/postgres.ts";
import { table } from "../lib/table.ts";
import { numbersFrom } from "./lib/options.ts";
import { percentile } from "./lib/percentile.ts";
import { readSizes } from "./lib/retention/sizes.ts";
import { onStage } from "./lib/run-stages.ts";
import { pagesPerJob, readPages, sumOf, type Pages } from "./lib/snapshot/pages.ts";
import { PacedJobs } from "./lib/snapshot/paced-jobs.ts";

const options = numbersFrom("held-snapshot.ts", { seconds: 60, rate: 1_000 });
const PERIOD_S = 20;
const RATIO_MAX = 1.5;
const SLOTS = 8;
const HANDLER_MS = 2;
const KEPT_MS = 3_000;
/** Seconds of each trial of a rate, the delay that a rate may have, and the number of trials. */
const TRIAL_S = 5;
const TRIAL_P50_MS_MAX = 50;
const TRIALS_MAX = 6;
const LOWER_BY = 0.75;
const TABLES_SHOWN = 8;
const SCHEMA = "millrace";

interface Period {
  readonly name: string;
  readonly delays: readonly number[];
  readonly pages: Pages;
}

await onStage(async () => {
  await using server = await startPostgres();
  await using jobs = await PacedJobs.open({
    url: server.url,
    slots: SLOTS,
    handlerMs: HANDLER_MS,
    keptMs: KEPT_MS,
  });
  const rate = await sustainedRate(jobs);
  if (rate === null) return { sound: false };
  const watcher = await connect(server.url);
  const measure = async (name: string, seconds: number): Promise<Period> => {
    const from = await readPages(watcher, SCHEMA);
    const delays = await jobs.send(rate, seconds);
    const pages = pagesPerJob(from, await readPages(watcher, SCHEMA), delays.length);
    return { name, delays, pages };
  };
  const before = await measure("before", PERIOD_S);
  const holder = await connect(server.url);
  await holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await holder.query("SELECT pg_current_snapshot()");
  const held: Period[] = [];
  for (let from = 0; from < options.seconds; from += PERIOD_S) {
    const seconds = Math.min(PERIOD_S, options.seconds - from);
    held.push(await measure(`snapshot held, ${from} to ${from + seconds} s`, seconds));
  }
  const dead = await deadRows(watcher);
  await holder.query("COMMIT");
  await holder.end();
  await watcher.end();
  return report(before, held, dead);
});

/** The asked rate, or a lower one that the machine holds without a growing backlog. */
async function sustainedRate(jobs: PacedJobs): Promise<number | null> {
  let { rate } = options;
  for (let trial = 0; trial < TRIALS_MAX; trial += 1) {
    // The first trial also warms up.
    if (trial === 0) await jobs.send(rate, TRIAL_S);
    const p50 = percentile(await jobs.send(rate, TRIAL_S), 0.5);
    if (p50 <= TRIAL_P50_MS_MAX) return rate;
    console.log(`${rate} jobs/s: p50 is ${p50.toFixed(0)} ms; this machine cannot hold the rate`);
    rate = Math.floor(rate * LOWER_BY);
  }
  return null;
}

function report(
  before: Period,
  held: readonly Period[],
  dead: readonly string[],
): { readonly sound: boolean } {
  const known = figuresOf(before);
  const ratiosOf = (period: Period): number[] =>
    figuresOf(period).map((figure, index) => figure / known[index]!);
  const rows = [before, ...held].map((period) => [
    period.name,
    String(period.delays.length),
    ...figuresOf(period).map((figure) => figure.toFixed(1)),
    ...ratiosOf(period).map((ratio) => ratio.toFixed(2)),
  ]);
  const names = ["p50 ms", "p99 ms", "pages per job"];
  const head = ["", "jobs", ...names, ...names.map((name) => `${name.split(" ")[0]} ratio`)];
  for (const line of [...table(head, rows), ...pageTable([before, ...held])]) console.log(line);
  console.log(`dead rows at the end of the snapshot: ${dead.join(", ")}`);
  console.log(`load average of the last five minutes: ${loadavg()[1]?.toFixed(1)}`);
  return { sound: held.flatMap(ratiosOf).every((ratio) => ratio <= RATIO_MAX) };
}

function figuresOf({ delays, pages }: Period): number[] {
  return [percentile(delays, 0.5), percentile(delays, 0.99), sumOf(pages)];
}

/** The tables of which most pages are read per job, period by period. */
function pageTable(periods: readonly Period[]): string[] {
  const most = (name: string): number =>
    Math.max(...periods.map(({ pages }) => pages.get(name) ?? 0));
  const names = [...(periods[0]?.pages.keys() ?? [])]
    .toSorted((a, b) => most(b) - most(a))
    .slice(0, TABLES_SHOWN);
  const rows = names.map((name) => [
    name,
    ...periods.map(({ pages }) => (pages.get(name) ?? 0).toFixed(1)),
  ]);
  return table(["pages per job", ...periods.map(({ name }) => name)], rows);
}

/** The tables with most dead rows. */
async function deadRows(client: Client): Promise<readonly string[]> {
  const sizes = await readSizes(client, SCHEMA);
  return sizes
    .filter(({ dead }) => dead > 0)
    .toSorted((a, b) => b.dead - a.dead)
    .slice(0, TABLES_SHOWN)
    .map(({ name, dead }) => `${name} ${dead}`);
}
