/**
 * Candidates for `list`: keys of jobs from an index, newest first. Each part of a filter that has
 * an index is a source. The source with the fewest candidates is read, and `match_jobs` checks the
 * rest of the filter. So a rare state, type or tag is found without a scan of all jobs.
 */
import { idBytes, parseId } from "../../../core/ids.ts";
import type { State } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import { INDEXES_MAX, sparsest } from "../../shared/list-bounds.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { ListFilter } from "../../types/records.ts";
import type { Session } from "../database/session.ts";

/** The next keys below `before`, newest first, at most `limit`. */
type Source = (before: JobKey, limit: number) => readonly JobKey[];

/** The filter as parameters. */
interface Conditions {
  readonly states: string | null;
  readonly type: number | null;
  readonly tenant: number | null;
  readonly category: number | null;
  readonly correlation: string | null;
  readonly correlation_id: Uint8Array | null;
  readonly parent: Uint8Array | null;
  readonly tags: string;
}

export interface Chunk {
  readonly keys: readonly JobKey[];
  readonly conditions: Conditions;
  /** No candidate follows. */
  readonly isLast: boolean;
}

/** Chunks of these sizes, with the conditions to check. */
export function* candidates(
  session: Session,
  filter: ListFilter,
  { after = Number.MAX_SAFE_INTEGER, sizes }: { after?: JobKey; sizes: readonly number[] },
): Generator<Chunk, void> {
  const conditions = conditionsOf(session, filter);
  const [first = 0, ...rest] = sizes;
  if (conditions === null) return;
  const probes = sourcesOf(session, filter, conditions)
    .slice(0, INDEXES_MAX)
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

/** The filter as parameters; null if it has a name that no job ever had. */
function conditionsOf({ names }: Session, filter: ListFilter): Conditions | null {
  const type = filter.type === undefined ? null : names.find("type", filter.type);
  const tenant = filter.tenant === undefined ? null : names.find("tenant", filter.tenant);
  const category = filter.category === undefined ? null : names.find("category", filter.category);
  if (type === undefined || tenant === undefined || category === undefined) return null;
  const states = filter.states?.map((state: State) => stateCodec.code[state]);
  return {
    states: states === undefined ? null : JSON.stringify(states),
    type,
    tenant,
    category,
    correlation: filter.correlationId ?? null,
    correlation_id: correlatedId(filter.correlationId),
    parent: filter.parentId === undefined ? null : idBytes(filter.parentId),
    tags: JSON.stringify(filter.tags ?? {}),
  };
}

/** The correlation as an id, because the first job of a chain is correlated by its own id. */
function correlatedId(correlation: string | undefined): Uint8Array | null {
  const id = correlation === undefined ? null : parseId(correlation);
  return id === null ? null : idBytes(id);
}

/** One source per part of the filter; all jobs if no part has an index. */
function sourcesOf({ sql }: Session, filter: ListFilter, conditions: Conditions): Source[] {
  const { states, type, tenant, category, correlation, correlation_id, parent } = conditions;
  const sources: Source[] = [];
  const add = (read: (page: { before: JobKey; limit: number }) => KeyRow[]): void => {
    sources.push((before, limit) => read({ before, limit }).map(({ key }) => key));
  };
  if (correlation !== null) {
    add((page) => sql.all("keys_of_correlation", { correlation, correlation_id, ...page }));
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

/** The id of the default tenant, which every installation has. Its jobs have no index. */
const DEFAULT_TENANT = 1;
