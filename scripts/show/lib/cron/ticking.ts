/**
 * Processes with the same schedule for every second. Some stay, and one is killed at random again
 * and again.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { openMillrace } from "millrace";
import { Client } from "pg";
import type { Dice } from "../../../../src/core/clock.ts";
import { parseDatabaseUrl } from "../../../../src/client/database-url.ts";
import { startChild, type Child } from "../fleet/children.ts";
import { until } from "../until.ts";

export const TICKING = "every second";

/** What a process is told. */
export interface TickingSettings {
  readonly url: string;
  readonly leaseMs: number;
}

export interface TickingOptions {
  readonly url: string;
  /** For logs. */
  readonly folder: string;
  readonly seconds: number;
  /** Processes that stay. */
  readonly processes: number;
  readonly dice: Dice;
}

export interface TickingReport {
  readonly slots: number;
  readonly jobs: number;
  readonly kills: number;
  readonly findings: readonly string[];
}

const LEASE_MS = 2_000;
const SECOND_MS = 1_000;
const LIFE_MS_MAX = 3_000;
const DRAIN_MS_MAX = 60_000;

export async function tick(options: TickingOptions): Promise<TickingReport> {
  const { url, folder, seconds, processes } = options;
  const start = (): Child =>
    startChild({
      program: new URL("ticking.child.ts", import.meta.url),
      settings: { url, leaseMs: LEASE_MS } satisfies TickingSettings,
      log: join(folder, "ticking.log"),
    });
  const steady = Array.from({ length: processes }, start);
  await Promise.all(steady.map(({ ready }) => ready));
  const kills = await killAgainAndAgain(options, start);
  const mill = await openMillrace(url);
  try {
    await until("the jobs of killed processes have ended", DRAIN_MS_MAX, async () => {
      const { running } = await mill.jobs.stats();
      return running === 0;
    });
    for (const child of steady) child.kill("SIGTERM");
    await Promise.all(steady.map(({ ended }) => ended));
    const slots = await slotsOfJobs(url);
    return { kills, jobs: slots.length, ...judged(slots, seconds) };
  } finally {
    await mill.close();
  }
}

/** Answers how many processes were killed. */
async function killAgainAndAgain(
  { seconds, dice }: TickingOptions,
  start: () => Child,
): Promise<number> {
  const end = performance.now() + seconds * SECOND_MS;
  let kills = 0;
  while (performance.now() < end) {
    const victim = start();
    if (dice.random() < 0.8) await victim.ready;
    await sleep(Math.min(dice.random() * LIFE_MS_MAX, Math.max(0, end - performance.now())));
    victim.kill("SIGKILL");
    await victim.ended;
    kills += 1;
  }
  return kills;
}

/** The slot of each job, from the table itself. */
async function slotsOfJobs(url: string): Promise<readonly number[]> {
  const address = parseDatabaseUrl(url);
  if (address.kind === "sqlite") {
    using database = new DatabaseSync(address.path, { readOnly: true });
    const rows = database.prepare("SELECT run_at FROM millrace_job").all();
    return rows.map((row) => Number(row["run_at"]));
  }
  const client = new Client({ connectionString: address.url });
  await client.connect();
  const { rows } = await client.query<{ slot: string }>(
    `SELECT extract(epoch FROM run_at) * 1000 AS slot FROM ${address.schema}.job`,
  );
  await client.end();
  return rows.map(({ slot }) => Number(slot));
}

/** Every second from the first to the last has one job. */
function judged(
  jobs: readonly number[],
  seconds: number,
): Pick<TickingReport, "slots" | "findings"> {
  const [first, last] = [Math.min(...jobs), Math.max(...jobs)];
  const findings = jobs
    .filter((slot) => slot % SECOND_MS !== 0)
    .map((slot) => `${textOf(slot)} is no slot`);
  for (let slot = first; slot <= last; slot += SECOND_MS) {
    const made = jobs.filter((each) => each === slot).length;
    if (made !== 1) findings.push(`${textOf(slot)} has ${made} jobs`);
  }
  const slots = (last - first) / SECOND_MS + 1;
  // The first slot is due up to a second after the first declaration.
  if (!(slots >= seconds - 1)) findings.push(`there are ${slots} slots in ${seconds} seconds`);
  return { slots, findings };
}

function textOf(slot: number): string {
  return new Date(slot).toISOString();
}
