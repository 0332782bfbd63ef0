/**
 * Candidates for `list`: keys of jobs from an index, newest first. Each part of a filter that has
 * an index is a source. The source with the fewest candidates is read, and `match_jobs` checks the
 * rest of the filter. So a rare state, type or tag is found without a scan of all jobs.
 */
import { INDEXES_MAX, RUNNING_MS_MAX, sparsest, type Probe } from "../../shared/lists/bounds.ts";
import {
  CLOCK_STEP_MS_MAX,
  conditionsOf,
  DEFAULT_TENANT,
  type Chunk,
  type Conditions,
} from "../../shared/lists/conditions.ts";
import { bounded } from "../../shared/limits.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { ListFilter } from "../../types/lists.ts";
import type { Session } from "../database/session.ts";
import { list, uuidOf } from "../database/values.ts";

/** The next keys below `before`, newest first, at most `limit`. */
type Source = (before: JobKey, limit: number) => Promise<readonly JobKey[]>;

/** Chunks of these sizes, with the conditions to check. */
export async function* candidates(
  session: Session,
  filter: ListFilter,
  { after = Number.MAX_SAFE_INTEGER, sizes }: { after?: JobKey; sizes: readonly number[] },
): AsyncGenerator<Chunk<string>, void> {
  await learnNames(session, filter);
  const conditions = conditionsOf(filter, {
    idOf: uuidOf,
    listOf: list,
    nameOf: (kind, text) => session.names.known(kind, text),
  });
  const [first = 0, ...rest] = sizes;
  if (conditions === null) return;
  const range = await rangeOf(session, filter);
  const probes: Probe<Source>[] = [];
  for (const each of sourcesOf(session, filter, conditions).slice(0, INDEXES_MAX)) {
    const source = within(range, each);
    probes.push({ source, keys: await source(after, first) });
  }
  const chosen = sparsest(probes, first);
  if (chosen === null) return;
  let { keys } = chosen;
  yield { keys, conditions, isLast: keys.length < first };
  for (const size of rest) {
    const last = keys.at(-1);
    if (last === undefined) return;
    keys = await chosen.source(last, size);
    yield { keys, conditions, isLast: keys.length < size };
  }
}

async function learnNames({ names }: Session, filter: ListFilter): Promise<void> {
  const { type, tenant, category, lane } = filter;
  await names.find([
    ...(type === undefined ? [] : [{ kind: "type" as const, text: type }]),
    ...(tenant === undefined ? [] : [{ kind: "tenant" as const, text: tenant }]),
    ...(category === undefined ? [] : [{ kind: "category" as const, text: category }]),
    ...(lane === undefined ? [] : [{ kind: "lane" as const, text: lane }]),
  ]);
}

interface KeyRange {
  readonly from: JobKey;
  readonly before: JobKey;
}

/** The keys of the jobs that were created in the time of the filter, and some more. */
async function rangeOf(
  { read }: Session,
  { createdFrom, createdBefore }: ListFilter,
): Promise<KeyRange> {
  const keyAt = async (at: number): Promise<JobKey | undefined> =>
    (await read.get("key_at", { at }))?.key;
  const from = createdFrom === undefined ? 0 : await keyAt(createdFrom - CLOCK_STEP_MS_MAX);
  const end =
    createdBefore === undefined ? undefined : await keyAt(createdBefore + CLOCK_STEP_MS_MAX);
  return { from: from ?? 0, before: end ?? Number.MAX_SAFE_INTEGER };
}

/** A source that begins and ends with the range. */
function within(range: KeyRange, source: Source): Source {
  return async (before, limit) => {
    const keys = await source(Math.min(before, range.before), limit);
    return keys.filter((key) => key >= range.from);
  };
}

/** One source per part of the filter; all jobs if no part has an index. */
function sourcesOf(
  { read }: Session,
  filter: ListFilter,
  conditions: Conditions<string>,
): Source[] {
  const { states, type, tenant, category, parent } = conditions;
  const { correlation, correlation_id, correlation_uuid } = conditions;
  const sources: Source[] = [];
  const add = (rows: (page: { before: JobKey; limit: number }) => Promise<KeyRow[]>): void => {
    sources.push(async (before, limit) => (await rows({ before, limit })).map(({ key }) => key));
  };
  // No other part of a filter knows the starts of runs, so that this source must be read.
  if (filter.runningMs !== undefined) {
    const running = { running_ms: bounded(filter.runningMs, RUNNING_MS_MAX) };
    add((page) => read.all("keys_of_long_runs", { ...running, ...page }));
    return sources;
  }
  if (correlation !== null) {
    const texts = { correlation, correlation_id, correlation_uuid };
    add((page) => read.all("keys_of_correlation", { ...texts, ...page }));
  }
  if (parent !== null) add((page) => read.all("keys_of_parent", { parent, ...page }));
  if (states !== null) add((page) => read.all("keys_of_states", { states, ...page }));
  if (category !== null) add((page) => read.all("keys_of_category", { category, ...page }));
  if (type !== null) add((page) => read.all("keys_of_type", { type, ...page }));
  if (tenant !== null && tenant !== DEFAULT_TENANT) {
    add((page) => read.all("keys_of_tenant", { tenant, ...page }));
  }
  for (const [name, value] of Object.entries(filter.tags ?? {})) {
    add((page) => read.all("keys_of_tag", { name, value, ...page }));
  }
  if (sources.length === 0) add((page) => read.all("keys_of_all", page));
  return sources;
}

interface KeyRow {
  readonly key: JobKey;
}
