/**
 * The index that a search scans, newest job first. The most selective part of the filter chooses
 * the index, and `match_jobs` checks the rest. So a rare state or a tag is found without a scan of
 * all jobs.
 */
import { parseId } from "../../../core/ids.ts";
import { stateCodec } from "../../shared/codes.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { ListFilter } from "../../types/records.ts";
import type { Session } from "../database/session.ts";
import { list, uuidOf } from "../database/values.ts";

/** The next keys below `before`, newest first, at most `limit`. */
type Source = (before: JobKey, limit: number) => Promise<readonly { readonly key: JobKey }[]>;

/** The filter as parameters. */
export interface Conditions {
  readonly states: string | null;
  readonly type: number | null;
  readonly tenant: number | null;
  readonly category: number | null;
  readonly correlation: string | null;
  readonly correlation_id: string | null;
  readonly parent: string | null;
  readonly tags: string;
}

export interface Chunk {
  readonly keys: readonly JobKey[];
  readonly conditions: Conditions;
}

/** Chunks of candidates for a filter, newest first, with the conditions to check. */
export async function* candidates(
  session: Session,
  filter: ListFilter,
  { after = Number.MAX_SAFE_INTEGER, size }: { readonly after?: JobKey; readonly size: number },
): AsyncGenerator<Chunk, void> {
  await learnNames(session, filter);
  const conditions = conditionsOf(session, filter);
  if (conditions === null) return;
  const source = narrowSource(session, conditions, filter) ?? broadSource(session, conditions);
  for (let before = after; ;) {
    const keys = (await source(before, size)).map(({ key }) => key);
    const last = keys.at(-1);
    if (last === undefined) return;
    yield { keys, conditions };
    before = last;
  }
}

async function learnNames({ names }: Session, filter: ListFilter): Promise<void> {
  const { type, tenant, category } = filter;
  await names.find([
    ...(type === undefined ? [] : [{ kind: "type" as const, text: type }]),
    ...(tenant === undefined ? [] : [{ kind: "tenant" as const, text: tenant }]),
    ...(category === undefined ? [] : [{ kind: "category" as const, text: category }]),
  ]);
}

/** Null: the filter has a name that no job ever had. */
function conditionsOf({ names }: Session, filter: ListFilter): Conditions | null {
  const type = filter.type === undefined ? null : names.known("type", filter.type);
  const tenant = filter.tenant === undefined ? null : names.known("tenant", filter.tenant);
  const category = filter.category === undefined ? null : names.known("category", filter.category);
  if (type === undefined || tenant === undefined || category === undefined) return null;
  const states = filter.states?.map((state) => stateCodec.code[state]);
  return {
    states: states === undefined ? null : list(states),
    type,
    tenant,
    category,
    correlation: filter.correlationId ?? null,
    correlation_id: correlatedId(filter.correlationId),
    parent: filter.parentId === undefined ? null : uuidOf(filter.parentId),
    tags: JSON.stringify(filter.tags ?? {}),
  };
}

/** A correlation may be a job id: the first job of a chain is correlated by its own id. */
function correlatedId(correlation: string | undefined): string | null {
  const id = correlation === undefined ? null : parseId(correlation);
  return id === null ? null : uuidOf(id);
}

/** Few jobs share a tag, correlation or parent, and few are in a state but `completed`. */
function narrowSource(
  { read }: Session,
  conditions: Conditions,
  filter: ListFilter,
): Source | null {
  const { states, correlation, correlation_id, parent } = conditions;
  const [tag] = Object.entries(filter.tags ?? {});
  if (tag !== undefined) {
    const [name, value] = tag;
    return (before, limit) => read.all("keys_of_tag", { name, value, before, limit });
  }
  if (correlation !== null) {
    const correlated = { correlation, correlation_id };
    return (before, limit) => read.all("keys_of_correlation", { ...correlated, before, limit });
  }
  if (parent !== null) {
    return (before, limit) => read.all("keys_of_parent", { parent, before, limit });
  }
  if (states === null || filter.states?.includes("completed")) return null;
  return (before, limit) => read.all("keys_of_states", { states, before, limit });
}

/** Category, type, tenant, or all jobs. */
function broadSource({ read }: Session, { type, tenant, category }: Conditions): Source {
  if (category !== null) {
    return (before, limit) => read.all("keys_of_category", { category, before, limit });
  }
  if (type !== null) {
    return (before, limit) => read.all("keys_of_type", { type, before, limit });
  }
  if (tenant !== null && tenant !== DEFAULT_TENANT) {
    return (before, limit) => read.all("keys_of_tenant", { tenant, before, limit });
  }
  return (before, limit) => read.all("keys_of_all", { before, limit });
}

/** The id of the default tenant, which every installation has. Its jobs have no index. */
const DEFAULT_TENANT = 1;
