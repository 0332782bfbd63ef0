/** The same work side by side with other job systems, and what we want to be ahead by. */
import { backlog, fleet, pinned } from "./backlog.ts";
import { claims } from "./claims.ts";
import { isOnPath, REDIS_SERVER } from "./databases.ts";
import { drain, enqueues, pickup } from "./measurements.ts";
import type { Contest, Entrant, RowOf } from "./side-by-side.ts";

type StoreName = "sqlite" | "postgres";

const rate = { unit: "jobs/s", better: "more" } as const;
const share = { unit: "×", better: "more" } as const;
const cost = { unit: "×", better: "less" } as const;
const ms = { unit: "ms", better: "less" } as const;
const memory = { unit: "MB", better: "less", figure: "peak", bound: 120 } as const;
const seconds = { unit: "s", better: "less" } as const;

const FAST = "graphile-worker fast";
const GRAPHILE = "graphile-worker default";
const BOSS = "pg-boss";
const BULLMQ = "bullmq";
const FLOW = "openworkflow";
const PLAIN = "plainjob";
const REDIS = "bullmq on Redis";

/** Slow ones get fewer jobs: their rate is the same, and a run takes less time. */
function entrants(store: StoreName): Entrant[] {
  const flow: Entrant = { name: FLOW, system: "openworkflow", database: store };
  const ours: Entrant = { name: "millrace", system: "millrace", database: store };
  if (store === "sqlite") {
    return [ours, { name: PLAIN, system: "plainjob", database: store }, { ...flow, share: 0.05 }];
  }
  const graphile = { system: "graphile-worker", database: store } as const;
  const bullmq = { system: "bullmq", share: 0.25 } as const;
  return [
    ours,
    { ...graphile, name: FAST, variant: "fast" },
    { ...graphile, name: GRAPHILE, variant: "default", share: 0.2 },
    { name: BOSS, system: "pg-boss", database: store },
    { ...bullmq, name: BULLMQ, database: store },
    { ...flow, share: 0.1 },
    ...(isOnPath(REDIS_SERVER) ? [{ ...bullmq, name: REDIS, database: "redis" } as const] : []),
  ];
}

/** What is compared on one store. The slow ones run only when the command names them. */
export function peerContests(store: StoreName, { slow }: { slow: boolean }): Contest[] {
  const quick = store === "sqlite" ? onSqlite() : onPostgres();
  return slow ? [...quick, ...inDepth(store)] : quick;
}

function onSqlite(): Contest[] {
  const all = entrants("sqlite");
  return [
    contest("SQLite: enqueue", enqueues, all, [
      { id: "", work: "SQLite: enqueue, one by one", ...rate, figure: "single" },
      {
        id: "P10",
        work: "SQLite: enqueue, 50 callers",
        ...rate,
        figure: "concurrent",
        targets: { [PLAIN]: 1.3, [FLOW]: 10 },
      },
      { id: "", work: "SQLite: enqueue, bulk of 1000", ...rate, figure: "bulk" },
    ]),
    contest("SQLite: drain", drain(), all, [
      {
        id: "P9",
        work: "SQLite: drain, one process",
        ...rate,
        figure: "rate",
        targets: { [PLAIN]: 5, [FLOW]: 5 },
      },
      { id: "", work: "SQLite: processor time of 10,000 jobs", ...seconds, figure: "cpu" },
      { id: "P13", work: "SQLite: memory of the worker at its peak", ...memory },
    ]),
    contest("SQLite: pick-up", pickup({ apart: false }), all, [
      { id: "P11", work: "SQLite: pick-up in one process, p50", ...ms, figure: "p50" },
      { id: "P11", work: "… p99", ...ms, figure: "p99" },
      { id: "P11", work: "… p50 without one sync", ...ms, figure: "over", bound: 1 },
    ]),
  ];
}

function onPostgres(): Contest[] {
  const all = entrants("postgres");
  const peers = (target: number): Record<string, number> =>
    Object.fromEntries([FAST, GRAPHILE, BOSS, BULLMQ, FLOW].map((name) => [name, target]));
  const single = { id: "P5", figure: "single", targets: peers(1.5) };
  const concurrent = { id: "P3", figure: "concurrent", targets: { ...peers(5), [REDIS]: 1.3 } };
  const bulk = { id: "P4", figure: "bulk", targets: { [FAST]: 1.3 } };
  const one = { id: "P1", figure: "rate", targets: { [FAST]: 1.5, [BOSS]: 2.5, [REDIS]: 4 } };
  const two = { id: "P2", figure: "rate", targets: { [FAST]: 1.3 } };
  const median = { id: "P6", figure: "p50", targets: { [FAST]: 1, [GRAPHILE]: 1 } };
  const cpu = { id: "P12", figure: "cpu", bound: 0.25 };
  return [
    contest("PostgreSQL: enqueue", enqueues, all, [
      { ...single, work: "PostgreSQL: enqueue, one by one", ...rate },
      { ...concurrent, work: "PostgreSQL: enqueue, 50 callers", ...rate },
      { ...bulk, work: "PostgreSQL: enqueue, bulk of 1000", ...rate },
    ]),
    contest("PostgreSQL: drain", drain(), all, [
      { ...one, work: "PostgreSQL: drain, one process", ...rate },
      { ...cpu, work: "PostgreSQL: processor time of 10,000 jobs, worker", ...seconds },
      { ...cpu, work: "… database", ...seconds, figure: "databaseCpu", bound: 0.3 },
      { id: "P13", work: "PostgreSQL: memory of the worker at its peak", ...memory },
    ]),
    contest("PostgreSQL: drain, 2 processes", drain({ processes: 2 }), all, [
      { ...two, work: "PostgreSQL: drain, 2 processes", ...rate },
    ]),
    contest("PostgreSQL: pick-up", pickup({ apart: true }), all, [
      { ...median, work: "PostgreSQL: pick-up, p50", ...ms },
      { id: "P6", work: "… p99", ...ms, figure: "p99", bound: 15 },
    ]),
  ];
}

/** A million jobs take their time: one round is enough. */
function inDepth(store: StoreName): Contest[] {
  const all = entrants(store);
  const [ours] = all;
  const only = ours === undefined ? [] : [ours];
  const named = (...names: string[]): Entrant[] => [
    ...only,
    ...all.filter(({ name }) => names.includes(name)),
  ];
  const deep = contest(`${store}: backlog`, backlog, named(FAST, BOSS, PLAIN), [
    {
      id: "P8",
      work: "behind 1M future and 200k due jobs",
      ...share,
      figure: "share",
      bound: 0.95,
    },
  ]);
  const scan = contest(`${store}: claims`, claims, only, [
    { id: "P16", work: "claim, 1M waiting over 1k", ...cost, figure: "many", bound: 1.5 },
    { id: "P16", work: "… 200k of unknown types in front", ...cost, figure: "unknown", bound: 1.5 },
    { id: "P16", work: "… 200k paused in front", ...cost, figure: "paused", bound: 1.5 },
    { id: "P16", work: "… 200k of a full limit in front", ...cost, figure: "limited", bound: 1.5 },
    { id: "P16", work: "… 5k at the crash cap in front", ...cost, figure: "crashed", bound: 1.5 },
    { id: "P16", work: "… and paused", ...cost, figure: "crashedPaused", bound: 1.5 },
    { id: "P16", work: "… first claim, unknown types", ...ms, figure: "firstUnknown", bound: 100 },
    { id: "P16", work: "… first claim, paused", ...ms, figure: "firstPaused", bound: 100 },
    { id: "P16", work: "… first claim, limited", ...ms, figure: "firstLimited", bound: 100 },
  ]);
  const once = [deep, scan].map((each) => ({ ...each, once: true }));
  if (store === "sqlite") return once;
  return [
    ...once,
    contest("postgres: pinned horizon", pinned, named(FAST, GRAPHILE, BOSS), [
      { id: "P7", work: "pinned horizon, last over first", ...share, figure: "share", bound: 0.95 },
      { id: "P7", work: "… pick-up longer than normal by", ...ms, figure: "extra", bound: 5 },
    ]),
    contest("postgres: fleet", fleet, named(FAST), [
      { id: "P15", work: "drain, 1 process", ...rate, figure: "of1" },
      { id: "P15", work: "… 2 processes", ...rate, figure: "of2" },
      { id: "P15", work: "… 4 processes", ...rate, figure: "of4" },
      { id: "P15", work: "… 8 processes", ...rate, figure: "of8" },
      { id: "P15", work: "… smallest step", ...share, figure: "least", bound: 1 },
    ]),
  ];
}

function contest(
  work: string,
  measure: Contest["measure"],
  list: readonly Entrant[],
  rows: readonly RowOf[],
): Contest {
  return { work, measure, entrants: list, rows };
}
