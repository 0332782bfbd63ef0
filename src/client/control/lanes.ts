/** `mill.lanes`. */
import type { LanePause, LaneOverview, LaneView } from "../../api/control/lanes.ts";
import { laneTargetMs } from "../../core/attention/lane-targets.ts";
import { ofLane, takesLane } from "../../core/lanes.ts";
import { dateOf, isWorking } from "../../jobs/views.ts";
import type { JobStore } from "../../store/store.ts";
import type { FairLaneRecord } from "../../store/types/fairness.ts";
import type {
  CountName,
  Gate,
  GroupedStats,
  JobGroup,
  WorkerRecord,
} from "../../store/types/records.ts";

const WORKERS_MAX = 1_000;
/** The jobs that each count reads, and the groups of type, lane and tenant. */
const LIMITS = { rows: 100_000, groups: 10_000 };

interface LaneFacts {
  /** The workers that are alive and claim jobs. */
  readonly working: readonly WorkerRecord[];
  readonly stats: GroupedStats;
  readonly gates: readonly Gate[];
  readonly fair: readonly FairLaneRecord[];
}

export function makeLanes(
  store: Pick<JobStore, "workers" | "groupedStats" | "gates" | "fairLanes">,
): LaneOverview {
  return {
    async list() {
      const known = await store.workers(WORKERS_MAX);
      const facts: LaneFacts = {
        working: known.filter(isWorking),
        stats: await store.groupedStats(LIMITS),
        gates: (await store.gates()).filter(({ kind }) => kind === "lane"),
        fair: await store.fairLanes(),
      };
      return namesOf(facts).map((lane) => laneView(lane, facts));
    },
  };
}

function namesOf({ working, stats, gates, fair }: LaneFacts): readonly string[] {
  const names = [
    ...working.flatMap(({ lanes }) => lanes),
    ...stats.groups.map(({ lane }) => lane),
    ...gates.map(({ name }) => name),
    ...fair.map(({ lane }) => lane),
  ];
  return [...new Set(names)].toSorted();
}

function laneView(lane: string, { working, stats, gates, fair }: LaneFacts): LaneView {
  const groups = stats.groups.filter((group) => group.lane === lane);
  const sum = (name: CountName): number => groups.reduce((total, group) => total + group[name], 0);
  const isCut = (name: CountName): boolean => stats.hasMore || stats.cutShort.includes(name);
  return {
    lane,
    slots: working.reduce((total, { laneSlots }) => total + ofLane(lane, laneSlots), 0),
    running: sum("running"),
    waiting: { count: sum("queued"), atLeast: isCut("queued") },
    held: { count: sum("held"), atLeast: isCut("held") },
    oldestAgeMs: oldestOf(groups),
    targetMs: laneTargetMs(lane),
    pause: pauseOf(gates.find(({ name }) => name === lane)),
    fair: fair.some((each) => each.lane === lane),
    workers: working.filter(({ lanes }) => takesLane(lanes, lane)).length,
  };
}

function oldestOf(groups: readonly JobGroup[]): number | null {
  const ages = groups.flatMap(({ oldestQueuedMs }) => oldestQueuedMs ?? []);
  return ages.length === 0 ? null : Math.max(...ages);
}

function pauseOf(gate: Gate | undefined): LanePause | null {
  if (gate === undefined) return null;
  const { reason, by: pausedBy, closedAt, until } = gate;
  return { reason, pausedBy, pausedAt: new Date(closedAt), until: dateOf(until) };
}
