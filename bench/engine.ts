/** The engine through its public API: a producer, workers, a store that syncs every commit. */
import type { DatabaseKind } from "./databases.ts";
import { drain, enqueues, loopDelayServing, memory, pickup } from "./measurements.ts";
import type { Contest, Entrant, RowOf } from "./side-by-side.ts";

/** The bare loop runs beside it where there is one. */
export function engineContests(database: Exclude<DatabaseKind, "redis">): Contest[] {
  const ours: Entrant = { name: "millrace", system: "millrace", database };
  const bare: Entrant = { name: "bare loop", system: "bare", database };
  const both = database === "sqlite" ? [ours, bare] : [ours];
  const rate = { unit: "jobs/s", better: "more" } as const;
  const ms = { unit: "ms", better: "less" } as const;
  const drains = (options: { slots?: number; processes?: number }, work: string): Contest => ({
    work,
    measure: drain(options),
    entrants: both,
    rows: [{ id: "", work, ...rate, figure: "rate" }],
  });

  return [
    {
      work: "enqueue",
      measure: enqueues,
      entrants: both,
      rows: [
        { id: "", work: "enqueue, one by one", ...rate, figure: "single" },
        { id: "", work: "enqueue, 50 callers", ...rate, figure: "concurrent" },
        { id: "", work: "enqueue, bulk of 1000", ...rate, figure: "bulk" },
      ],
    },
    drains({ slots: 8 }, "drain, 8 slots"),
    drains({ slots: 50 }, "drain, 50 slots"),
    withCost(drains({ slots: 200 }, "drain, 200 slots"), database),
    drains({ slots: 50, processes: 2 }, "drain, 2 processes of 50 slots"),
    {
      work: "pick-up",
      measure: pickup({ apart: false }),
      entrants: [ours],
      rows: pickupRows(database),
    },
    {
      work: "event loop with HTTP",
      measure: loopDelayServing,
      entrants: [ours],
      rows: [
        { id: "P14", work: "event-loop delay p99, and HTTP", ...ms, figure: "delay", bound: 20 },
      ],
    },
    memoryContest(ours),
  ];
}

/** One commit is one sync of the disk: on a file that can be told apart from what we add. */
function pickupRows(database: DatabaseKind): RowOf[] {
  const ms = { unit: "ms", better: "less" } as const;
  const work = "pick-up in one process, p50";
  if (database !== "sqlite") {
    return [
      { id: "", work, ...ms, figure: "p50" },
      { id: "", work: "… p99", ...ms, figure: "p99" },
    ];
  }
  return [
    { id: "P11", work, ...ms, figure: "p50" },
    { id: "P11", work: "… p99", ...ms, figure: "p99" },
    { id: "P11", work: "… one sync of the disk", ...ms, figure: "sync" },
    { id: "P11", work: "… p50 without that sync", ...ms, figure: "over", bound: 1 },
  ];
}

/** Adds what the work costs in processor time, and others in waiting. */
function withCost(contest: Contest, database: DatabaseKind): Contest {
  const cpu = { id: "P12", unit: "s", better: "less" } as const;
  const isServer = database === "postgres";
  const worker: RowOf = {
    ...cpu,
    work: "processor time of 10,000 jobs, 200 slots",
    figure: "cpu",
    ...(isServer ? { bound: 0.25 } : {}),
  };
  const server: RowOf = { ...cpu, work: "… database", figure: "databaseCpu", bound: 0.3 };
  const loop: RowOf = {
    id: "P14",
    work: "event-loop delay p99, 200 slots",
    unit: "ms",
    better: "less",
    figure: "delay",
    bound: 20,
  };
  return { ...contest, rows: [...contest.rows, worker, ...(isServer ? [server] : []), loop] };
}

function memoryContest(ours: Entrant): Contest {
  const megabytes = { id: "P13", unit: "MB", better: "less" } as const;
  return {
    work: "memory",
    measure: memory,
    entrants: [ours],
    once: true,
    rows: [
      { ...megabytes, work: "memory after a collection, 50k jobs", figure: "after50k" },
      { ...megabytes, work: "… 100k jobs", figure: "after100k" },
      { ...megabytes, work: "… 200k jobs", figure: "after200k" },
      { ...megabytes, work: "… of these alive", figure: "heap" },
      { ...megabytes, work: "… at its peak", figure: "peak", bound: 120 },
    ],
  };
}
