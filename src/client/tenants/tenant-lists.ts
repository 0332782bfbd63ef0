/** Lists and counts of a mill of one tenant that are more than a filter. */
import type { IdRange } from "../../core/ids.ts";
import type { JobId } from "../../core/job.ts";
import type {
  CountName,
  DeletedDetail,
  EventKind,
  FeedEntry,
  Stats,
} from "../../store/types/records.ts";
import { ownAmong, type TenantScope } from "./tenant-scope.ts";

/** The ids that one search reads, page by page, to find those of the tenant. */
const IDS_PER_PAGE = 1_000;
const ID_PAGES_MAX = 10;
/** The jobs that each count reads, and the groups of type and lane. */
const ROWS_MAX = 100_000;
const GROUPS_MAX = 10_000;

/**
 * The ids of a range that belong to the tenant. A search reads at most 10,000 ids, so that a short
 * prefix may find fewer than `limit`; more letters find the others.
 */
export async function tenantIds(
  scope: TenantScope,
  { from: first, to }: IdRange,
  limit: number,
): Promise<readonly JobId[]> {
  const found = new Set<JobId>();
  let from = first;
  for (let page = 0; page < ID_PAGES_MAX && found.size < limit; page += 1) {
    const ids = await scope.store.idsBetween({ from, to }, IDS_PER_PAGE);
    for (const id of await ownAmong(scope, ids)) found.add(id);
    if (ids.length < IDS_PER_PAGE) break;
    // Both ends of a range belong to it: the last id is read twice.
    from = ids.at(-1) ?? from;
  }
  return [...found].slice(0, Math.max(0, limit));
}

/** The counts of the tenant's groups. The age of the oldest queued job is not known by tenant. */
export async function tenantStats({ store, tenant }: TenantScope, max: number): Promise<Stats> {
  const limits = { rows: ROWS_MAX, groups: GROUPS_MAX };
  const { groups, cutShort, hasMore } = await store.groupedStats(limits, tenant);
  const sum = (name: CountName | "retrying"): number =>
    groups.reduce((total, group) => Math.min(max, total + group[name]), 0);
  const isQueuedCut = hasMore || cutShort.includes("queued");
  const queued = sum("queued");
  return {
    scheduled: sum("scheduled"),
    retrying: sum("retrying"),
    queued,
    held: sum("held"),
    running: sum("running"),
    failed: sum("failed"),
    oldestQueuedMs: null,
    isOldestExact: queued === 0 && !isQueuedCut,
    cutShort: hasMore ? ["scheduled", "queued", "held", "running", "failed"] : cutShort,
  };
}

/**
 * The entries of a page about jobs of the tenant. One statement reads the tenants of all jobs of
 * the page; the feed itself tells those of jobs that were removed. An entry without jobs marks the
 * end of a page that ends with entries of other tenants: the next read begins there.
 */
export async function tenantFeed(
  scope: TenantScope,
  position: number,
  limit: number,
  about?: ReadonlySet<EventKind>,
): Promise<readonly FeedEntry[]> {
  const entries = await scope.store.feed(position, limit, about);
  const own = await ownAmong(scope, [...new Set(entries.flatMap(({ jobs }) => jobs))]);
  const kept = entries
    .map((entry) => ownPart(entry, (id, index) => own.has(id) || isDeleted(entry, index, scope)))
    .filter(({ jobs }) => jobs.length > 0);
  const end = entries.at(-1)?.position;
  if (end === undefined || kept.at(-1)?.position === end) return kept;
  const mark = {
    position: end,
    kind: "job:progress",
    at: 0,
    jobs: [],
    places: [],
    details: [],
  } as const;
  return [...kept, mark];
}

function ownPart(entry: FeedEntry, isOwnJob: (id: JobId, index: number) => boolean): FeedEntry {
  const { jobs, places, details, facts } = entry;
  const own = jobs.map(isOwnJob);
  const isOwn = (_: unknown, index: number): boolean => own[index] === true;
  return {
    ...entry,
    jobs: jobs.filter(isOwn),
    places: places.filter(isOwn),
    details: details?.filter(isOwn) ?? null,
    ...(facts === undefined ? {} : { facts: facts.filter(isOwn) }),
  };
}

/** Whether the entry tells that a job of the tenant was removed. */
function isDeleted({ kind, details }: FeedEntry, index: number, { tenant }: TenantScope): boolean {
  const detail = kind === "job:deleted" ? details?.[index] : undefined;
  if (detail === undefined) return false;
  const deleted: DeletedDetail = JSON.parse(detail);
  return deleted.tenant === tenant;
}
