/**
 * P18 to P25: what users feel. Handlers that take time, few slots, single jobs, results, pipelines,
 * HTTP beside the work, a start, memory; with the settings that users have, beside peers.
 */
import { defaults } from "../src/core/presets.ts";
import { isOnPath, REDIS_SERVER, type DatabaseKind } from "./databases.ts";
import {
  busySlots,
  firstHandler,
  HANDLER_MS,
  pipelines,
  results,
  servedWhileDraining,
  trickle,
  weights,
} from "./shape-measurements.ts";
import type { Contest, Entrant, RowOf } from "./side-by-side.ts";

type StoreName = Exclude<DatabaseKind, "redis">;

const NAMES = { sqlite: "SQLite", postgres: "PostgreSQL" } as const;
const PIPELINE_SLOTS = 50;
const PIPELINES = { sqlite: 6_000, postgres: 1_500 } as const;
const FLOW_SHARE = 0.02;
/** Milliseconds, megabytes and rates that each store is to keep to, and shares in percent. */
const BOUNDS = {
  postgres: {
    shares: [80, 80, 60],
    pickup: [4.5, 8],
    result: [8, 15],
    pipelines: 800,
    first: 200,
  },
  sqlite: {
    shares: [90, 90, 85],
    pickup: [5, 12],
    result: [8, 15],
    pipelines: 3_500,
    first: 100,
  },
} as const;
const HTTP_MS_MAX = 15;
const IDLE_MB_MAX = 60;
const AFTER_MB_MAX = 120;

const rate = { unit: "jobs/s", better: "more" } as const;
const share = { unit: "%", better: "more", figure: "share" } as const;
const ms = { unit: "ms", better: "less" } as const;
const megabytes = { unit: "MB", better: "less" } as const;

export interface ShapeOptions {
  /** Another working tree, whose Millrace takes part. */
  readonly beside: string | null;
}

export function shapeContests(stores: readonly StoreName[], options: ShapeOptions): Contest[] {
  return stores.flatMap((store) => {
    const all = [
      ...slotContests(store),
      ...waitingContests(store),
      pipelineContest(store),
      ...processContests(store),
    ];
    return all.map((contest) => withBeside(contest, options));
  });
}

/** Graphile Worker with all defaults but the slots, and with its way to high rates. */
function slotContests(store: StoreName): Contest[] {
  const id = store === "postgres" ? "P18" : "P19";
  const own = defaults.lanes.general;
  const sizes = [
    { slots: own, work: `default slots (${own})`, isDefault: true, peer: "default" },
    { slots: 8, work: "8 slots", isDefault: false, peer: "default" },
    { slots: 50, work: "50 slots", isDefault: false, peer: "fast" },
  ];
  return sizes.map(({ slots, work: name, isDefault, peer }, index): Contest => {
    const work = `${NAMES[store]}: ${HANDLER_MS} ms handlers, ${name}`;
    return {
      work,
      measure: busySlots(slots, { isDefault }),
      entrants: [plain(store), ...(store === "postgres" ? [graphile(peer), ...redis()] : [])],
      rows: [
        { id, work, ...share, bound: BOUNDS[store].shares[index] ?? 0 },
        { id, work: "… rate", ...rate, figure: "rate" },
      ],
    };
  });
}

function waitingContests(store: StoreName): Contest[] {
  const { pickup, result } = BOUNDS[store];
  const name = NAMES[store];
  const peers = store === "postgres" ? [graphile("default"), ...redis()] : [];
  const rows = (id: string, work: string, bounds: readonly number[]): RowOf[] => [
    { id, work, ...ms, figure: "p50", bound: bounds[0] ?? 0 },
    { id, work: "… p99", ...ms, figure: "p99", bound: bounds[1] ?? 0 },
  ];
  const picking = `${name}: 20 jobs/s, enqueue → handler, 2 processes, p50`;
  const asking = `${name}: enqueue → result, 2 processes, p50`;
  const within = `${name}: enqueue → result, 1 process, p50`;
  return [
    {
      work: picking,
      measure: trickle,
      entrants: [plain(store), ...peers],
      rows: rows("P20", picking, pickup),
    },
    {
      work: asking,
      measure: results({ isApart: true }),
      entrants: [plain(store), ...(store === "postgres" ? redis() : [])],
      rows: rows("P21", asking, result),
    },
    {
      work: within,
      measure: results({ isApart: false }),
      entrants: [plain(store)],
      rows: rows("P21", within, result),
    },
  ];
}

function pipelineContest(store: StoreName): Contest {
  const work = `${NAMES[store]}: pipelines of 3 phases, ${PIPELINE_SLOTS} slots`;
  const variant = "pipeline";
  return {
    work,
    measure: pipelines(PIPELINE_SLOTS, PIPELINES[store]),
    entrants: [
      { ...plain(store), variant },
      { name: "openworkflow", system: "openworkflow", database: store, variant, share: FLOW_SHARE },
    ],
    rows: [{ id: "P22", work, ...rate, figure: "rate", bound: BOUNDS[store].pipelines }],
  };
}

function processContests(store: StoreName): Contest[] {
  const name = NAMES[store];
  const built = { isBuilt: true } as const;
  const tuned: Entrant = { name: "millrace", system: "millrace", database: store, ...built };
  const plainjob: Entrant = { name: "plainjob", system: "plainjob", database: store };
  const peers = store === "postgres" ? [graphile("fast"), ...redis()] : [plainjob];
  const serving = `${name}: HTTP p99 in a process that drains`;
  const starting = `${name}: process start → first handler`;
  const weighing = `${name}: memory of an idle worker`;
  return [
    {
      work: serving,
      measure: servedWhileDraining,
      // A worker of plainjob leaves its process no time to answer.
      entrants: [tuned, ...peers.filter((each) => each !== plainjob).map(slow)],
      rows: [
        { id: "P23", work: serving, ...ms, figure: "p99", bound: HTTP_MS_MAX },
        { id: "P23", work: "… p50", ...ms, figure: "p50" },
      ],
    },
    {
      work: starting,
      measure: firstHandler,
      entrants: [{ ...plain(store), ...built }, ...peers],
      rows: [{ id: "P24", work: starting, ...ms, figure: "first", bound: BOUNDS[store].first }],
    },
    {
      work: weighing,
      measure: weights,
      entrants: [tuned, ...peers.map(slow)],
      once: true,
      rows: [
        { id: "P25", work: weighing, ...megabytes, figure: "idle", bound: IDLE_MB_MAX },
        { id: "P25", work: "… after the jobs", ...megabytes, figure: "after", bound: AFTER_MB_MAX },
        { id: "P25", work: "… at its peak", ...megabytes, figure: "peak" },
      ],
    },
  ];
}

function withBeside(contest: Contest, { beside }: ShapeOptions): Contest {
  const [ours, ...rest] = contest.entrants;
  if (beside === null || ours === undefined) return contest;
  return { ...contest, entrants: [ours, { ...ours, name: "beside", tree: beside }, ...rest] };
}

/** Millrace with a user's settings. */
function plain(store: StoreName): Entrant {
  return { name: "millrace", system: "millrace", database: store, variant: "plain" };
}

function graphile(variant: string): Entrant {
  const name = `graphile-worker ${variant}`;
  return { name, system: "graphile-worker", database: "postgres", variant };
}

/** BullMQ, where there is a server for it. */
function redis(): Entrant[] {
  if (!isOnPath(REDIS_SERVER)) return [];
  return [{ name: "bullmq on Redis", system: "bullmq", database: "redis" }];
}

/** Fewer jobs for those that would take too long. */
function slow(entrant: Entrant): Entrant {
  if (entrant.system === "graphile-worker") return entrant;
  return { ...entrant, share: 0.25 };
}
