/** `deadLetters.count` and `deadLetters.stats`: counts that stop at a maximum, and say so. */
import type {
  DeadLetterCountFilter,
  DeadLetterStats,
  DeadLetterStatus,
  NamedCount,
} from "../../api/control/letters.ts";
import type { CountedJobs } from "../../api/jobs.ts";
import type { JobStore } from "../../store/store.ts";
import type { LetterGroup } from "../../store/types/letters.ts";
import { deadLetterCountFilter } from "../filters.ts";

const COUNT_MAX = 10_000;
/** The letters that `stats` reads, and their groups by status, type, category and class. */
const ROWS_MAX = 100_000;
const GROUPS_MAX = 10_000;
/** The names in each list of `stats`. */
const NAMES_MAX = 100;

/** One letter more is read than told, so that an exact count is known to be exact. */
export async function countLetters(
  store: Pick<JobStore, "countLetters">,
  filter: DeadLetterCountFilter,
): Promise<CountedJobs> {
  const count = await store.countLetters(deadLetterCountFilter(filter), COUNT_MAX + 1);
  return { count: Math.min(count, COUNT_MAX), atLeast: count > COUNT_MAX };
}

export async function letterStats(store: Pick<JobStore, "letterGroups">): Promise<DeadLetterStats> {
  const limits = { rows: ROWS_MAX + 1, groups: GROUPS_MAX };
  const { groups, hasMore } = await store.letterGroups(limits);
  const count = sum(groups, ({ letters }) => letters);
  const ofStatus = (status: DeadLetterStatus): LetterGroup[] =>
    groups.filter((group) => group.status === status);
  const countOf = (status: DeadLetterStatus): number =>
    sum(ofStatus(status), ({ letters }) => letters);
  return {
    count: Math.min(count, ROWS_MAX),
    atLeast: hasMore || count > ROWS_MAX,
    oldestAt: oldestOf(groups),
    oldestPendingAt: oldestOf(ofStatus("pending_review")),
    last24Hours: sum(groups, ({ lastDay }) => lastDay),
    byStatus: {
      pending_review: countOf("pending_review"),
      acknowledged: countOf("acknowledged"),
      reprocessed: countOf("reprocessed"),
      discarded: countOf("discarded"),
    },
    byCategory: countsBy(groups, ({ category }) => category),
    byType: countsBy(groups, ({ type }) => type),
    byErrorClass: countsBy(groups, ({ errorClass }) => errorClass),
  };
}

/** The sort is stable: of names with the same count, the one of the largest group is first. */
function countsBy(
  groups: readonly LetterGroup[],
  nameOf: (group: LetterGroup) => string | null,
): readonly NamedCount[] {
  const counts = new Map<string | null, number>();
  for (const group of groups) {
    counts.set(nameOf(group), (counts.get(nameOf(group)) ?? 0) + group.letters);
  }
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .toSorted((one, other) => other.count - one.count)
    .slice(0, NAMES_MAX);
}

function oldestOf(groups: readonly LetterGroup[]): Date | null {
  const oldest = Math.min(...groups.map(({ oldestAt }) => oldestAt));
  return groups.length === 0 ? null : new Date(oldest);
}

function sum(groups: readonly LetterGroup[], countOf: (group: LetterGroup) => number): number {
  return groups.reduce((total, group) => total + countOf(group), 0);
}
