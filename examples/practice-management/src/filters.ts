/** The filters of both lists, from the query of a request. */
import type { DeadLetterFilter, ErrorClass, JobFilter } from "millrace";
import { Refusal } from "./api-answers.ts";
import { STATES_OF } from "./job-queue.ts";

const LIMIT_MAX = 500;

type Filter = Record<string, unknown>;
type Readers = Readonly<Record<string, (value: string) => Filter>>;

/** What both lists have. */
const SHARED: Readers = {
  category: (category) => ({ category }),
  job_type: (type) => ({ type }),
  correlation_id: (correlationId) => ({ correlationId }),
  created_after: (value) => ({ createdAfter: instantOf("created_after", value) }),
  created_before: (value) => ({ createdBefore: instantOf("created_before", value) }),
  after: (after) => ({ after }),
  limit: (value) => ({ limit: limitOf(value) }),
};

const QUEUE: Readers = {
  ...SHARED,
  status: (value) => ({ state: STATES_OF[oneOf("status", value, keysOf(STATES_OF))] }),
};

const DLQ_STATUSES = ["pending_review", "acknowledged", "reprocessed", "discarded"] as const;
const CLASSES = ["transient", "retryable", "non_retryable", "rate_limited"] as const;

const DLQ: Readers = {
  ...SHARED,
  status: (value) => ({ status: oneOf("status", value, DLQ_STATUSES) }),
  error_class: (value) => ({
    errorClass: oneOf("error_class", value, CLASSES) satisfies ErrorClass,
  }),
};

export function queueFilter(query: URLSearchParams): JobFilter {
  return filterOf(query, QUEUE);
}

export function dlqFilter(query: URLSearchParams): DeadLetterFilter {
  return filterOf(query, DLQ);
}

/** A filter that is misspelt would select too much: it is refused. */
function filterOf(query: URLSearchParams, readers: Readers): Filter {
  const names = Object.keys(readers);
  const filter: Filter = {};
  for (const [name, value] of query) {
    if (!names.includes(name)) throw new Refusal(400, `filters are ${names.join(", ")}`);
    Object.assign(filter, readers[name]!(value));
  }
  return filter;
}

function oneOf<T extends string>(name: string, value: string, known: readonly T[]): T {
  const found = known.find((each) => each === value);
  if (found !== undefined) return found;
  throw new Refusal(400, `${name} must be one of ${known.join(", ")}`);
}

function instantOf(name: string, value: string): Date {
  const instant = new Date(value);
  if (!Number.isNaN(instant.getTime())) return instant;
  throw new Refusal(400, `${name} must be a time such as 2025-12-30T10:00:00Z`);
}

function limitOf(value: string): number {
  const limit = Number(value);
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new Refusal(400, `limit must be a whole number from 1 to ${LIMIT_MAX}`);
}

function keysOf<T extends object>(value: T): (keyof T & string)[] {
  const keys: any = Object.keys(value);
  return keys;
}
