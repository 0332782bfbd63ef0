/** Counts that stop at a maximum. */
import { GATE_INSTALLATION } from "./codes.ts";
import type {
  CountBehind,
  CountName,
  GroupedStats,
  RunningJobCount,
  Stats,
} from "../types/records.ts";

const NAMES: readonly CountName[] = ["scheduled", "queued", "held", "running", "failed"];

/** The groups of a tenant that no job or gate ever had. */
export const NO_GROUPS: GroupedStats = { groups: [], cutShort: [], hasMore: false };

/** The counts that have found more than `max` jobs. */
export function cutShortOf(counts: Readonly<Record<CountName, number>>, max: number): CountName[] {
  return NAMES.filter((name) => counts[name] > max);
}

/** The count for a gate whose name no job has. */
/** No name has this number: a count that is limited to it finds nothing. */
export const UNKNOWN_NAME = -1;

export const NONE_BEHIND: CountBehind = {
  jobs: 0,
  isExact: true,
  shared: 0,
  isSharedExact: true,
};

/** The rows and ids that `countRunning` answers at most. */
export const RUNNING_ROWS_MAX = 1_000_000;
export const RUNNING_IDS_MAX = 1_000;

/** The count of running jobs for a gate whose name no job has. */
export const NONE_RUNNING: RunningJobCount = { jobs: 0, isExact: true, ids: [], claims: [] };

/** Due jobs that are read, at least, to tell those behind a closed gate from the others. */
export const DUE_ROWS_MIN = 10_000;

/** What the due jobs are while a gate is closed, among so many as were read. */
export interface DueCounts extends Pick<Stats, "queued" | "oldestQueuedMs"> {
  /** Due jobs behind a closed gate, which no worker has moved. */
  readonly behind: number;
  /** False: there are more due jobs. */
  readonly isExact: boolean;
}

/** Counts while a gate is closed: due jobs behind it are held. */
export function statsBehindGates(
  counts: Pick<Stats, CountName | "retrying">,
  { queued, behind, oldestQueuedMs, isExact }: DueCounts,
  max: number,
): Stats {
  return {
    ...counts,
    queued: Math.min(max, queued),
    held: Math.min(max, counts.held + behind),
    oldestQueuedMs,
    isOldestExact: isExact,
    cutShort: isExact ? [] : ["queued", "held"],
  };
}

interface GroupCounts extends Readonly<Record<"type" | "lane" | "tenant" | CountName, number>> {
  readonly oldest_ms: number | null;
}

/** What closed gates hold back: names, and pairs of a tenant and a type. */
export type ClosedNames = ReadonlySet<string>;

export function closedNames(
  rows: readonly { readonly name: number; readonly tenant: number | null }[],
): ClosedNames {
  return new Set(rows.map(({ name, tenant }) => closedName(name, tenant)));
}

function closedName(name: number, tenant: number | null): string {
  return tenant === null ? String(name) : `${tenant} ${name}`;
}

/** Groups of names, with the due jobs behind closed gates counted as held. */
export function groupsBehindGates<Group extends GroupCounts>(
  groups: readonly Group[],
  closed: ClosedNames,
): readonly Group[] {
  return groups.map((group) => {
    const { type, lane, tenant } = group;
    const names = [type, lane, tenant, GATE_INSTALLATION].map(String);
    const isBehind = [...names, closedName(type, tenant)].some((name) => closed.has(name));
    if (!isBehind) return group;
    return { ...group, queued: 0, held: group.held + group.queued, oldest_ms: null };
  });
}

/** Counts of groups that were cut short: of unread due jobs, some may be held. */
export function cutShortBehindGates(
  cutShort: readonly CountName[],
  closed: ClosedNames,
): readonly CountName[] {
  if (closed.size === 0 || !cutShort.includes("queued")) return cutShort;
  return NAMES.filter((name) => name === "held" || cutShort.includes(name));
}
