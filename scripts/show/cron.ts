/**
 * Schedules over years of virtual time, in many zones, with three schedulers, outages, crashes and
 * clock jumps, on a real store: each slot makes exactly one job, and missed slots obey their
 * policies. The slots are compared with a second computation that walks over every minute. The
 * policies of overlap are not part of it: they depend on when jobs end, and the conformance suites
 * and the simulation prove them.
 *
 *     node --conditions=source scripts/show/cron.ts [--years 5] [--zones 20] [--seed 1]
 *         [--from 2026-01-01] [--store sqlite|postgres] [--plant double|overlap|gap]
 *
 * On PostgreSQL, the default is five weeks in three zones, from March on. With a planted fault, the
 * command must end with differences.
 */
import { parseArgs } from "node:util";
import { startPostgres } from "../../test/support/postgres.ts";
import { seededDice } from "../../test/support/seeded-dice.ts";
import { differencesOf } from "./lib/cron/compare.ts";
import { postgresHandles, sqliteHandles, type Handles, type Ports } from "./lib/cron/databases.ts";
import { stretchesOf, walk } from "./lib/cron/reference.ts";
import { rulesOf, ZONES } from "./lib/cron/rules.ts";
import { PLANTS, runZone, type Plant } from "./lib/cron/run-zone.ts";

const { values } = parseArgs({
  options: {
    years: { type: "string" },
    zones: { type: "string" },
    seed: { type: "string", default: "1" },
    store: { type: "string", default: "sqlite" },
    from: { type: "string" },
    plant: { type: "string" },
  },
});

const YEAR = 365 * 86_400_000;
const SHOWN_MAX = 5;

const isSqlite = values.store === "sqlite";
const START = Date.parse(values.from ?? (isSqlite ? "2026-01-01" : "2026-03-01"));
const years = Number(values.years ?? (isSqlite ? 5 : 0.1));
const zones = ZONES.slice(0, Number(values.zones ?? (isSqlite ? ZONES.length : 3)));
const plant = plantOf(values.plant);
const until = START + years * YEAR;
const began = performance.now();

await using server = isSqlite ? null : await startPostgres({ durable: false });
const totals = { slots: 0, jobs: 0, differences: 0 };
for (const [index, zone] of zones.entries()) await showZone(zone, index);
const { slots, jobs, differences } = totals;
console.log(
  `${zones.length} zones × ${years} years on ${values.store}, 3 schedulers: ${slots} slots, ` +
    `${jobs} jobs, ${differences} differences, ${secondsSince(began)} s, ${cpuSeconds()} s of CPU`,
);
process.exitCode = differences === 0 ? 0 : 1;

async function showZone(timeZone: string, index: number): Promise<void> {
  const start = performance.now();
  const stretches = stretchesOf(timeZone, START, until);
  const rules = rulesOf(stretches);
  const expected = walk(stretches, rules, START, until);
  const walked = secondsSince(start);
  const dice = seededDice(Number(values.seed) * 100 + index);
  const time = { now: START };
  const clock = { now: () => time.now, monotonic: () => time.now, after: () => () => {} };
  await using handles = await open({ clock, dice }, index);
  const life = { timeZone, stretches, rules, until, dice, time, plant };
  const diaries = await runZone(life, handles);
  const made = await handles.jobs();
  const wrong = differencesOf(rules, expected, diaries, made);
  const count = rules.reduce((sum, { policies }, rule) => {
    return sum + policies.length * expected[rule]!.length;
  }, 0);
  totals.slots += count;
  totals.jobs += made.size;
  totals.differences += wrong.length;
  console.log(
    `${timeZone}: ${stretches.length - 1} changes of the clocks, ${count} slots, ` +
      `${made.size} jobs, ${wrong.length} differences, ${secondsSince(start)} s (walk ${walked} s)`,
  );
  for (const line of wrong.slice(0, SHOWN_MAX)) console.log(`  ${line}`);
}

function open(ports: Ports, index: number): Promise<Handles> {
  return server === null ? sqliteHandles(ports) : postgresHandles(server, `cron_${index}`, ports);
}

function secondsSince(start: number): string {
  return ((performance.now() - start) / 1_000).toFixed(1);
}

function cpuSeconds(): string {
  const { user, system } = process.cpuUsage();
  return ((user + system) / 1e6).toFixed(1);
}

function plantOf(name: string | undefined): Plant | null {
  const known = PLANTS.find((each) => each === name);
  if (name !== undefined && known === undefined) {
    throw new Error(`there is no planted fault ${name}`);
  }
  return known ?? null;
}
