/**
 * Candidates for `list`: keys of jobs from an index, newest first. Each part of a filter that has
 * an index is a source. The source with the fewest candidates is read, and `match_jobs` checks the
 * rest of the filter. So a rare state, type or tag is found without a scan of all jobs.
 */
import { idBytes } from "../../../core/ids.ts";
import { INDEXES_MAX, RUNNING_MS_MAX, sparsest } from "../../shared/lists/bounds.ts";
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

/** The next keys below `before`, newest first, at most `limit`. */
type Source = (before: JobKey, limit: number) => readonly JobKey[];

/** Chunks of these sizes, with the conditions to check. */
export function* candidates(
  session: Session,
  filter: ListFilter,
  { after = Number.MAX_SAFE_INTEGER, sizes }: { after?: JobKey; sizes: readonly number[] },
): Generator<Chunk<Uint8Array>, void> {
  const conditions = conditionsOf(filter, {
    idOf: idBytes,
    listOf: (numbers) => JSON.stringify(numbers),
    nameOf: (kind, text) => session.names.find(kind, text),
  });
  const [first = 0, ...rest] = sizes;
  if (conditions === null) return;
  const range = rangeOf(session, filter);
  const probes = sourcesOf(session, filter, conditions)
    .slice(0, INDEXES_MAX)
    .map((each) => within(range, each))
    .map((source) => ({ source, keys: source(after, first) }));
  const chosen = sparsest(probes, first);
  if (chosen === null) return;
  let { keys } = chosen;
  yield { keys, conditions, isLast: keys.length < first };
  for (const size of rest) {
    const last = keys.at(-1);
    if (last === undefined) return;
    keys = chosen.source(last, size);
    yield { keys, conditions, isLast: keys.length < size };
  }
}

interface KeyRange {
  readonly from: JobKey;
  readonly before: JobKey;
}

/** The keys of the jobs that were created in the time of the filter, and some more. */
function rangeOf({ sql }: Session, { createdFrom, createdBefore }: ListFilter): KeyRange {
  const keyAt = (at: number): JobKey | undefined => sql.get("key_at", { at })?.key;
  const from = createdFrom === undefined ? 0 : keyAt(createdFrom - CLOCK_STEP_MS_MAX);
  const end = createdBefore === undefined ? undefined : keyAt(createdBefore + CLOCK_STEP_MS_MAX);
  return { from: from ?? 0, before: end ?? Number.MAX_SAFE_INTEGER };
}

/** A source that begins and ends with the range. */
function within(range: KeyRange, source: Source): Source {
  return (before, limit) =>
    source(Math.min(before, range.before), limit).filter((key) => key >= range.from);
}

/** One source per part of the filter; all jobs if no part has an index. */
function sourcesOf(
  { sql, clock }: Session,
  filter: ListFilter,
  conditions: Conditions<Uint8Array>,
): Source[] {
  const { states, type, tenant, category, parent } = conditions;
  const { correlation, correlation_id, correlation_uuid } = conditions;
  const sources: Source[] = [];
  const add = (read: (page: { before: JobKey; limit: number }) => KeyRow[]): void => {
    sources.push((before, limit) => read({ before, limit }).map(({ key }) => key));
  };
  // No other part of a filter knows the starts of runs, so that this source must be read.
  if (filter.runningMs !== undefined) {
    const running = { running_ms: bounded(filter.runningMs, RUNNING_MS_MAX), now: clock.now() };
    add((page) => sql.all("keys_of_long_runs", { ...running, ...page }));
    return sources;
  }
  if (correlation !== null) {
    const texts = { correlation, correlation_id, correlation_uuid };
    add((page) => sql.all("keys_of_correlation", { ...texts, ...page }));
  }
  if (parent !== null) add((page) => sql.all("keys_of_parent", { parent, ...page }));
  if (states !== null) add((page) => sql.all("keys_of_states", { states, ...page }));
  if (category !== null) add((page) => sql.all("keys_of_category", { category, ...page }));
  if (type !== null) add((page) => sql.all("keys_of_type", { type, ...page }));
  if (tenant !== null && tenant !== DEFAULT_TENANT) {
    add((page) => sql.all("keys_of_tenant", { tenant, ...page }));
  }
  for (const [name, value] of Object.entries(filter.tags ?? {})) {
    add((page) => sql.all("keys_of_tag", { name, value, ...page }));
  }
  if (sources.length === 0) add((page) => sql.all("keys_of_all", page));
  return sources;
}

interface KeyRow {
  readonly key: JobKey;
}
