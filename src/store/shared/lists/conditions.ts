/** The filter of `list` and `count` as parameters of statements. */
import { idUuid, parseId } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { ListFilter } from "../../types/lists.ts";
import { stateCodec, type NameKind } from "../codes.ts";

/** `Id` is an id as the dialect stores it. */
export interface Conditions<Id> {
  readonly states: string | null;
  readonly type: number | null;
  readonly tenant: number | null;
  readonly category: number | null;
  readonly lane: number | null;
  readonly error: string | null;
  /** A list of `{ path, text }`; null: the payload does not matter. */
  readonly payload: string | null;
  readonly payload_text: string | null;
  readonly correlation: string | null;
  readonly correlation_id: Id | null;
  readonly correlation_uuid: string | null;
  readonly parent: Id | null;
  readonly tags: string;
  readonly created_from: number | null;
  readonly created_before: number | null;
}

/** Keys of jobs from an index, with the conditions to check. */
export interface Chunk<Id> {
  readonly keys: readonly JobKey[];
  readonly conditions: Conditions<Id>;
  /** No candidate follows. */
  readonly isLast: boolean;
}

/** How a dialect passes parameters. */
interface ParameterForms<Id> {
  readonly idOf: (id: JobId) => Id;
  readonly listOf: (numbers: readonly number[]) => string;
  /** The number of an interned name; undefined: no job ever had the name. */
  readonly nameOf: (kind: NameKind, text: string) => number | undefined;
}

/** Null: the filter has a name that no job ever had. */
export function conditionsOf<Id>(
  filter: ListFilter,
  { idOf, listOf, nameOf }: ParameterForms<Id>,
): Conditions<Id> | null {
  const type = filter.type === undefined ? null : nameOf("type", filter.type);
  const tenant = filter.tenant === undefined ? null : nameOf("tenant", filter.tenant);
  const category = filter.category === undefined ? null : nameOf("category", filter.category);
  const lane = filter.lane === undefined ? null : nameOf("lane", filter.lane);
  if (type === undefined || tenant === undefined) return null;
  if (category === undefined || lane === undefined) return null;
  // Only running jobs have a present run.
  const wanted = filter.runningMs === undefined ? filter.states : (["running"] as const);
  const states = wanted?.map((state) => stateCodec.code[state]);
  // A correlation may be a job id, in any of its forms: the first job of a chain is correlated by
  // its own id, and the others store this id as a UUID.
  const first = filter.correlationId === undefined ? null : parseId(filter.correlationId);
  return {
    states: states === undefined ? null : listOf(states),
    type,
    tenant,
    category,
    lane,
    error: filter.error ?? null,
    payload: pathsOf(filter.payload),
    payload_text: filter.text ?? null,
    correlation: filter.correlationId ?? null,
    correlation_id: first === null ? null : idOf(first),
    correlation_uuid: first === null ? null : idUuid(first),
    parent: filter.parentId === undefined ? null : idOf(filter.parentId),
    tags: JSON.stringify(filter.tags ?? {}),
    created_from: filter.createdFrom ?? null,
    created_before: filter.createdBefore ?? null,
  };
}

/** The steps of each path, and the text that is wanted there. */
function pathsOf(payload: ListFilter["payload"] = {}): string | null {
  const wanted = Object.entries(payload).map(([path, text]) => ({ path: path.split("."), text }));
  return wanted.length === 0 ? null : JSON.stringify(wanted);
}

/**
 * How far the times of two jobs may contradict the order of their keys: so much may the clock of
 * the store be set back, and no list misses a job.
 */
export const CLOCK_STEP_MS_MAX = 3_600_000;

/** The id of the default tenant, which every installation has. Its jobs have no index. */
export const DEFAULT_TENANT = 1;
