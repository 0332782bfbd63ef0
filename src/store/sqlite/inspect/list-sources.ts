/**
 * Sources of candidates for `list`. Each source scans one index, newest first. The most selective
 * part of the filter chooses the source, and `match_jobs` checks the rest. So a rare state or a tag
 * is found without a scan of all jobs.
 */
import { idBytes, parseId } from "../../../core/ids.ts";
import type { State } from "../../../core/job.ts";
import { stateCodec } from "../../shared/codes.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { ListFilter } from "../../types/records.ts";
import type { Session } from "../database/session.ts";

/** The next keys below `before`, newest first, at most `limit`. */
export type CandidateSource = (before: JobKey, limit: number) => readonly JobKey[];

/** The source for a filter; null if the filter has a name that no job ever had. */
export function candidateSource(session: Session, filter: ListFilter): CandidateSource | null {
  const narrow = narrowSource(session, filter);
  if (narrow !== null) return narrow;
  if (filter.states !== undefined && !filter.states.includes("completed")) {
    return stateSource(session, filter.states);
  }
  return broadSource(session, filter);
}

/** Tag, correlation or parent, which few jobs share. */
function narrowSource({ sql }: Session, filter: ListFilter): CandidateSource | null {
  const [tag] = Object.entries(filter.tags ?? {});
  if (tag !== undefined) {
    const [name, value] = tag;
    return (before, limit) => keysOf(sql.all("keys_of_tag", { name, value, before, limit }));
  }
  if (filter.correlationId !== undefined) {
    const correlation = filter.correlationId;
    const correlation_id = correlatedId(correlation);
    return (before, limit) =>
      keysOf(sql.all("keys_of_correlation", { correlation, correlation_id, before, limit }));
  }
  if (filter.parentId !== undefined) {
    const parent = idBytes(filter.parentId);
    return (before, limit) => keysOf(sql.all("keys_of_parent", { parent, before, limit }));
  }
  return null;
}

/**
 * Every state but `completed` has its own index: a place, the leases, or the ends without success.
 */
function stateSource(session: Session, states: readonly State[]): CandidateSource {
  const sources = states.flatMap((state) => sourcesOfState(session, state));
  return (before, limit) => {
    const keys = new Set(sources.flatMap((source) => source(before, limit)));
    return [...keys].toSorted((left, right) => right - left).slice(0, limit);
  };
}

function sourcesOfState({ sql }: Session, state: State): CandidateSource[] {
  switch (state) {
    case "scheduled":
      return [(before, limit) => keysOf(sql.all("keys_scheduled", { before, limit }))];
    case "queued":
      return [
        (before, limit) => keysOf(sql.all("keys_ready", { before, limit })),
        (before, limit) => keysOf(sql.all("keys_blocked", { before, limit })),
      ];
    case "running":
      return [(before, limit) => keysOf(sql.all("keys_leased", { before, limit }))];
    case "completed":
    case "completed_with_errors":
    case "failed":
    case "cancelled": {
      const code = stateCodec.code[state];
      return [
        (before, limit) => keysOf(sql.all("keys_of_final_state", { state: code, before, limit })),
      ];
    }
  }
}

/** Category, type, tenant, or everything. */
function broadSource({ sql, names }: Session, filter: ListFilter): CandidateSource | null {
  if (filter.category !== undefined) {
    const category = names.find("category", filter.category);
    if (category === undefined) return null;
    return (before, limit) => keysOf(sql.all("keys_of_category", { category, before, limit }));
  }
  if (filter.type !== undefined) {
    const type = names.find("type", filter.type);
    if (type === undefined) return null;
    return (before, limit) => keysOf(sql.all("keys_of_type", { type, before, limit }));
  }
  if (filter.tenant !== undefined && filter.tenant !== "default") {
    const tenant = names.find("tenant", filter.tenant);
    if (tenant === undefined) return null;
    return (before, limit) => keysOf(sql.all("keys_of_tenant", { tenant, before, limit }));
  }
  return (before, limit) => keysOf(sql.all("keys_of_all", { before, limit }));
}

function keysOf(rows: readonly { readonly key: JobKey }[]): JobKey[] {
  return rows.map(({ key }) => key);
}

/** The correlation as an id, because the first job of a chain is correlated by its own id. */
export function correlatedId(correlation: string | undefined): Uint8Array | null {
  const id = correlation === undefined ? null : parseId(correlation);
  return id === null ? null : idBytes(id);
}
