/** The schemas of the request and response bodies. */
import { STATES } from "../core/job.ts";
import { wholeNumberIn } from "../api/rules.ts";
import { ATTEMPTS_BOUNDS, PRIORITY_BOUNDS } from "../api/settings.ts";
import type { JsonSchema } from "./schema.ts";

const TEXT: JsonSchema = { type: "string" };
const TEXT_OR_NULL: JsonSchema = { type: ["string", "null"] };
const NAME: JsonSchema = { type: "string", minLength: 1, maxLength: 200 };
const MOMENT: JsonSchema = { type: "string", format: "date-time" };
const MOMENT_OR_NULL: JsonSchema = { type: ["string", "null"], format: "date-time" };
const COUNT: JsonSchema = { type: "integer", minimum: 0 };
const ANYTHING: JsonSchema = { description: "Any JSON." };
const TAGS: JsonSchema = { type: "object", additionalProperties: TEXT };
const STATE: JsonSchema = { type: "string", enum: STATES };

export const KEY: JsonSchema = { type: "string", minLength: 1, maxLength: 500 };

const FAULT: JsonSchema = {
  type: ["object", "null"],
  required: ["class", "name", "message"],
  properties: {
    class: { type: "string", enum: ["transient", "retryable", "non_retryable", "rate_limited"] },
    name: TEXT,
    message: TEXT,
    stack: TEXT,
    service: TEXT,
  },
};

const DAMAGED: JsonSchema = {
  description: "Values whose stored text is damaged. They read as null.",
  type: "array",
  items: { type: "string", enum: ["payload", "result"] },
};

const JOB_PROPERTIES: Readonly<Record<string, JsonSchema>> = {
  id: TEXT,
  type: TEXT,
  state: STATE,
  tenant: TEXT,
  lane: TEXT,
  category: TEXT_OR_NULL,
  priority: COUNT,
  payload: ANYTHING,
  result: ANYTHING,
  outcome: { ...TEXT_OR_NULL, description: "How the last run ended, such as succeeded." },
  error: FAULT,
  progress: { type: "number", minimum: 0, maximum: 100 },
  phase: TEXT_OR_NULL,
  attempts: COUNT,
  maxAttempts: COUNT,
  correlationId: TEXT,
  parentId: TEXT_OR_NULL,
  retryOf: TEXT_OR_NULL,
  idempotencyKey: TEXT_OR_NULL,
  dedupKey: TEXT_OR_NULL,
  concurrencyKey: TEXT_OR_NULL,
  tags: TAGS,
  createdBy: TEXT_OR_NULL,
  createdAt: MOMENT,
  scheduledAt: { ...MOMENT, description: "The first planned time; a retry does not change it." },
  runAt: MOMENT_OR_NULL,
  startedAt: MOMENT_OR_NULL,
  finishedAt: MOMENT_OR_NULL,
  cancelReason: TEXT_OR_NULL,
  stale: { description: "True when the job will soon be removed.", type: "boolean" },
};

export const JOB: JsonSchema = {
  ...whole(JOB_PROPERTIES),
  properties: { ...JOB_PROPERTIES, damaged: DAMAGED },
};

export const ENQUEUED: JsonSchema = whole({
  id: TEXT,
  type: TEXT,
  state: {
    description: "Null when the key belongs to a job that has been removed.",
    type: ["string", "null"],
  },
  created: { description: "False when the job already existed.", type: "boolean" },
});

const ENQUEUE_OPTIONS: JsonSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    tenant: NAME,
    runAt: {
      description: "ISO text with an offset, or milliseconds since 1970",
      anyOf: [{ type: "string", maxLength: 40 }, COUNT],
    },
    delay: {
      description: "milliseconds, or a text such as 90s, 5m or 2h",
      anyOf: [{ type: "string", pattern: "^\\d+(\\.\\d+)?(ms|s|m|h|d)$", maxLength: 20 }, COUNT],
    },
    priority: {
      description: `${wholeNumberIn(PRIORITY_BOUNDS)}, or critical, high, normal or low`,
      anyOf: [
        { type: "string", enum: ["critical", "high", "normal", "low"] },
        { type: "integer", minimum: PRIORITY_BOUNDS.min, maximum: PRIORITY_BOUNDS.max },
      ],
    },
    maxAttempts: { type: "integer", minimum: ATTEMPTS_BOUNDS.min, maximum: ATTEMPTS_BOUNDS.max },
    correlationId: NAME,
    idempotencyKey: keyOr("return-existing", "error"),
    dedupKey: keyOr("skip", "replace", "extend"),
    concurrencyKey: {
      ...KEY,
      description: "a text of 1 to 500 characters; one job with the key runs at a time",
    },
    after: {
      description: "a list of up to 1000 ids of jobs that must be final first",
      type: "array",
      items: { description: "an id of 26 letters, or a UUID", type: "string", maxLength: 40 },
      maxItems: 1_000,
    },
    onFailed: {
      description: "what happens when a job in after fails: cancel or run",
      type: "string",
      enum: ["cancel", "run"],
    },
    tags: { type: "object", additionalProperties: KEY },
    webhookUrl: {
      description: "not part of this release: refused with 501 and the code NOT_YET",
      type: "string",
      maxLength: 2_000,
    },
    createdBy: NAME,
  },
};

export const ENQUEUE_BODY: JsonSchema = {
  type: "object",
  required: ["type"],
  additionalProperties: false,
  properties: { type: NAME, payload: ANYTHING, options: ENQUEUE_OPTIONS },
};

export const OVERVIEW: JsonSchema = whole({
  states: {
    type: "array",
    items: whole({
      state: STATE,
      count: COUNT,
      more: { description: "True when there are more than count.", type: "boolean" },
    }),
  },
});

export const PROBLEM: JsonSchema = {
  description: "An error in the form of RFC 9457.",
  type: "object",
  required: ["type", "title", "status", "detail", "code", "hint"],
  properties: {
    type: { type: "string", format: "uri" },
    title: TEXT,
    status: { type: "integer", minimum: 400, maximum: 599 },
    detail: TEXT,
    code: TEXT,
    hint: TEXT,
    errors: { type: "array", items: whole({ path: TEXT, message: TEXT }) },
  },
};

/** An object whose properties are all required. */
export function whole(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", required: Object.keys(properties), properties };
}

function keyOr(...policies: readonly string[]): JsonSchema {
  return {
    description: "a text, or { key, onConflict }",
    anyOf: [
      KEY,
      {
        ...whole({ key: KEY, onConflict: { type: "string", enum: policies } }),
        additionalProperties: false,
      },
    ],
  };
}
