/** Filters and counts of dead letters, as both stores need them. */
import type { DeadLetterQuery, LetterGroups } from "../../types/letters.ts";
import { deadLetterCodec } from "../codes.ts";

export const DAY_MS: number = 24 * 60 * 60 * 1_000;

export const NO_LETTERS: LetterGroups = { groups: [], hasMore: false };

/** The parameters of a filter that need no interned name. */
export interface LetterParams {
  readonly status: number | null;
  readonly category: string | null;
  readonly error_class: string | null;
  readonly cause: string | null;
  readonly assigned_to: string | null;
  readonly correlation: string | null;
  readonly created_from: number | null;
  readonly created_before: number | null;
}

/** The parameters of a filter, with the interned names of its type and tenant. */
export interface FilterParams extends LetterParams {
  readonly type: number | null;
  readonly tenant: number | null;
}

export function letterParams(filter: DeadLetterQuery): LetterParams {
  return {
    status: filter.status === undefined ? null : deadLetterCodec.code[filter.status],
    category: filter.category ?? null,
    error_class: filter.errorClass ?? null,
    cause: filter.cause ?? null,
    assigned_to: filter.assignedTo ?? null,
    correlation: filter.correlationId ?? null,
    created_from: filter.createdFrom ?? null,
    created_before: filter.createdBefore ?? null,
  };
}
