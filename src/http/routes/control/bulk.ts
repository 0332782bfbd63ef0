/** `/api/v1/operations`: one action on many jobs or dead letters. */
import { z } from "@hono/zod-openapi";
import type { DeadLetterCountFilter } from "../../../api/control/letters.ts";
import type { Operation, OperationRequest } from "../../../api/control/operations.ts";
import { RATE_MAX, RATE_MIN } from "../../../core/control/bulk.ts";
import { STATES } from "../../../core/job.ts";
import { HIDDEN } from "../../../core/redaction.ts";
import { MANAGE, SEE } from "../../identity/identity.ts";
import { defined } from "../../moments.ts";
import type { AppParts } from "../../parts.ts";
import { Redactor } from "../../redaction.ts";
import { route, type Route } from "../../route.ts";
import {
  COUNT,
  ID,
  ID_PARAMS,
  LIMIT,
  MOMENT,
  MOMENT_OR_NULL,
  NAME,
  TEXT,
  TEXT_OR_NULL,
  neededReason,
} from "../../schemas/common.ts";
import { JOB } from "../../schemas/jobs.ts";
import { redactedJob, redactedLetter } from "../../views.ts";
import { CLASSES, LETTER, STATUSES } from "../dead-letters.ts";

const PATH = "/api/v1/operations";
const IDS_MAX = 10_000;
const CHUNK_MAX = 500;
const TAGS_MAX = 20;
const PATHS_MAX = 5;
const PART = z.string().min(1).max(500);

const ACTIONS = [
  "cancel",
  "retry",
  "delete",
  "priority",
  "reschedule",
  "reprocess",
  "discard",
  "acknowledge",
] as const;
const OPERATION_STATUSES = ["pending", "running", "completed", "stopped", "failed"] as const;
const OUTCOMES = ["done", "skipped", "failed"] as const;
const STATE_NAMES = [...STATES, "pending"] as const;

const JOBS = z
  .strictObject({
    state: z
      .union([z.enum(STATE_NAMES), z.array(z.enum(STATE_NAMES)).max(STATE_NAMES.length)])
      .optional(),
    type: NAME.optional(),
    tenant: NAME.optional(),
    category: NAME.optional(),
    lane: NAME.optional(),
    correlationId: NAME.optional(),
    parentId: ID.optional(),
    tags: z
      .record(NAME, z.string().max(500))
      .refine((tags) => Object.keys(tags).length <= TAGS_MAX, { error: `up to ${TAGS_MAX} tags` })
      .optional(),
    createdAfter: MOMENT.optional(),
    createdBefore: MOMENT.optional(),
    runningLongerThan: z.union([COUNT, z.string().max(20)]).optional(),
    error: PART.optional(),
    payload: z
      .record(z.string().min(1).max(200), z.string().max(500))
      .refine((paths) => Object.keys(paths).length <= PATHS_MAX, {
        error: `up to ${PATHS_MAX} paths`,
      })
      .optional(),
    text: PART.optional(),
  })
  .openapi("BulkJobFilter", { description: "At least one condition." });

/** The filters of `deadLetters.list`. */
const LETTER_FILTERS = {
  status: z.enum(STATUSES).optional(),
  type: NAME.optional(),
  tenant: NAME.optional(),
  category: NAME.optional(),
  correlationId: NAME.optional(),
  cause: NAME.optional(),
  errorClass: z.enum(CLASSES).optional(),
  assignedTo: NAME.optional(),
  createdAfter: MOMENT.optional(),
  createdBefore: MOMENT.optional(),
} satisfies Readonly<Record<keyof DeadLetterCountFilter, z.ZodType>>;

const DEAD_LETTERS = z
  .strictObject(LETTER_FILTERS)
  .openapi("BulkDeadLetterFilter", { description: "At least one condition." });

/** One of `jobs`, `deadLetters` and `ids`; the client checks which goes with the action. */
const REQUEST = {
  action: z.enum(ACTIONS),
  jobs: JOBS.optional(),
  deadLetters: DEAD_LETTERS.optional(),
  ids: z.array(ID).max(IDS_MAX).optional(),
  priority: z
    .union([COUNT, z.enum(["critical", "high", "normal", "low"])])
    .optional()
    .openapi({ description: "For the action priority." }),
  runAt: MOMENT.optional().openapi({ description: "For the action reschedule." }),
  delay: z
    .union([COUNT, z.string().max(20)])
    .optional()
    .openapi({ description: "For the action reschedule: from the moment of the change." }),
};

/** Why items were not changed. */
const SKIPPED = z.strictObject({
  state: COUNT.optional(),
  existing: COUNT.optional(),
  held: COUNT.optional(),
  closed: COUNT.optional(),
  kept: COUNT.optional(),
  nothing_to_retry: COUNT.optional(),
  unknown: COUNT.optional(),
});

/** The filter as it is applied: instants and lengths in milliseconds. */
const FILTER = z.strictObject({
  states: z.array(z.enum(STATES)).optional(),
  status: z.enum(STATUSES).optional(),
  type: TEXT.optional(),
  tenant: TEXT.optional(),
  category: TEXT.optional(),
  lane: TEXT.optional(),
  correlationId: TEXT.optional(),
  parentId: TEXT.optional(),
  cause: TEXT.optional(),
  errorClass: z.enum(CLASSES).optional(),
  assignedTo: TEXT.optional(),
  tags: z.record(z.string(), TEXT).optional(),
  createdFrom: COUNT.optional(),
  createdBefore: COUNT.optional(),
  runningMs: COUNT.optional(),
  error: TEXT.optional(),
  payload: z.record(z.string(), TEXT).optional(),
  text: TEXT.optional(),
});

const OPERATION = z
  .strictObject({
    id: TEXT,
    status: z.enum(OPERATION_STATUSES),
    action: z.enum(ACTIONS),
    target: z.enum(["jobs", "deadLetters"]),
    filter: FILTER.nullable(),
    ids: COUNT.nullable(),
    tenant: TEXT_OR_NULL,
    actor: TEXT,
    reason: TEXT,
    rate: z.number(),
    chunk: COUNT,
    expected: COUNT,
    expectedAtLeast: z.boolean(),
    items: COUNT,
    done: COUNT,
    failed: COUNT,
    skipped: SKIPPED,
    createdAt: MOMENT,
    startedAt: MOMENT_OR_NULL,
    finishedAt: MOMENT_OR_NULL,
    stoppedBy: TEXT_OR_NULL,
    error: z.strictObject({ name: TEXT, message: TEXT }).nullable(),
  })
  .openapi("Operation");

const PREVIEW = z
  .strictObject({
    action: z.enum(ACTIONS),
    count: COUNT,
    atLeast: z.boolean().openapi({ description: "True when there are more than `count`." }),
    skipped: SKIPPED,
    jobs: z.array(JOB),
    deadLetters: z.array(LETTER),
  })
  .openapi("OperationPreview");

const ITEMS = z
  .strictObject({
    items: z.array(
      z.strictObject({
        n: COUNT,
        jobId: TEXT,
        outcome: z.enum(OUTCOMES),
        code: TEXT_OR_NULL,
        successorId: TEXT_OR_NULL,
      }),
    ),
    next: COUNT.nullable(),
  })
  .openapi("OperationItems");

export function bulkRoutes(parts: AppParts): readonly Route[] {
  return [
    previewRoute(parts),
    startRoute(parts),
    listRoute(parts),
    getRoute(parts),
    itemsRoute(),
    stopRoute(parts),
  ];
}

function shown(operation: Operation, redactor: Redactor): object {
  const { reason, filter, error } = operation;
  return {
    ...operation,
    reason: redactor.text(reason),
    filter: filter === null || redactor.seesAll ? filter : withoutValues(filter),
    error: error === null ? null : { ...error, message: redactor.text(error.message) },
  };
}

/** Tags, and what is searched in payloads and errors, are values of the application. */
function withoutValues(filter: Readonly<Record<string, unknown>>): object {
  return {
    ...filter,
    ...("tags" in filter ? { tags: {} } : {}),
    ...("payload" in filter ? { payload: {} } : {}),
    ...("text" in filter ? { text: HIDDEN } : {}),
    ...("error" in filter ? { error: HIDDEN } : {}),
  };
}

/** The schema leaves fields out that the types of the client tell apart. */
function requestOf(body: object): OperationRequest {
  const request: any = defined(body);
  return request;
}

function previewRoute({ redaction }: AppParts): Route {
  const form = {
    method: "post",
    path: `${PATH}/preview`,
    name: "previewOperation",
    summary: "Counts what an action would change, and shows a sample. Nothing is changed.",
    access: MANAGE,
    changesNothing: true,
    body: z.strictObject(REQUEST),
    answers: { 200: { description: "The count and the sample.", schema: PREVIEW } },
    problems: [],
  } as const;
  return route(form, async ({ body, mill, identity }) => {
    const redactor = new Redactor(redaction, identity);
    redactor.insistOnSearch(defined(body.jobs ?? {}));
    const preview = await mill.operations.preview(requestOf(body));
    const jobs = preview.jobs.map((job) => redactedJob(job, redactor));
    const deadLetters = preview.deadLetters.map((letter) => redactedLetter(letter, redactor));
    return Response.json({ ...preview, jobs, deadLetters });
  });
}

function startRoute({ redaction }: AppParts): Route {
  const form = {
    method: "post",
    path: PATH,
    name: "startOperation",
    summary: "Starts an action on many jobs or dead letters.",
    access: MANAGE,
    body: z.strictObject({
      ...REQUEST,
      reason: neededReason(1_000),
      rate: z
        .union([z.number().min(RATE_MIN).max(RATE_MAX), z.string().max(20)])
        .optional()
        .openapi({ description: "Items per second: 500, 500/s, 30/m or 100/h. At least 1/m." }),
      chunk: z.int().min(1).max(CHUNK_MAX).optional(),
    }),
    answers: {
      202: { description: "The operation was stored. Location is its path.", schema: OPERATION },
    },
    problems: [409],
  } as const;
  return route(form, async ({ body, mill, identity, base }) => {
    const { reason, rate, chunk, ...request } = body;
    const options = { actor: identity.actor, reason, ...defined({ rate, chunk }) };
    const redactor = new Redactor(redaction, identity);
    redactor.insistOnSearch(defined(body.jobs ?? {}));
    const operation = await mill.operations.start(requestOf(request), options);
    const location = `${base}${PATH}/${operation.id}`;
    return Response.json(shown(operation, redactor), { status: 202, headers: { location } });
  });
}

function listRoute({ redaction }: AppParts): Route {
  const form = {
    method: "get",
    path: PATH,
    name: "listOperations",
    summary: "Lists operations, newest first, in pages.",
    access: SEE,
    query: z.strictObject({
      status: z.enum(OPERATION_STATUSES).optional(),
      after: ID.optional().openapi({ description: "The id of the last one of the page before." }),
      limit: LIMIT,
    }),
    answers: {
      200: {
        description: "One page.",
        schema: z.strictObject({ operations: z.array(OPERATION), next: TEXT_OR_NULL }),
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ query, mill, identity }) => {
    const redactor = new Redactor(redaction, identity);
    const found = await mill.operations.list(defined(query));
    const next = found.length < query.limit ? null : (found.at(-1)?.id ?? null);
    return Response.json({ operations: found.map((each) => shown(each, redactor)), next });
  });
}

function getRoute({ redaction }: AppParts): Route {
  const form = {
    method: "get",
    path: `${PATH}/{id}`,
    name: "getOperation",
    summary: "Returns one operation, with what it has done so far.",
    access: SEE,
    params: ID_PARAMS,
    answers: { 200: { description: "The operation.", schema: OPERATION } },
    problems: [404],
  } as const;
  return route(form, async ({ params: { id }, mill, identity }) =>
    Response.json(shown(await mill.operations.get(id), new Redactor(redaction, identity))),
  );
}

function itemsRoute(): Route {
  const form = {
    method: "get",
    path: `${PATH}/{id}/items`,
    name: "listOperationItems",
    summary: "Lists what became of each item of an operation, in pages.",
    access: SEE,
    params: ID_PARAMS,
    query: z.strictObject({
      outcome: z.enum(OUTCOMES).optional(),
      after: COUNT.optional().openapi({ description: "The `next` of the previous page." }),
      limit: LIMIT,
    }),
    answers: { 200: { description: "One page.", schema: ITEMS } },
    problems: [404],
  } as const;
  return route(form, async ({ params: { id }, query, mill }) =>
    Response.json(await mill.operations.items(id, defined(query))),
  );
}

function stopRoute({ redaction }: AppParts): Route {
  const form = {
    method: "post",
    path: `${PATH}/{id}/stop`,
    name: "stopOperation",
    summary: "Ends an operation before its next chunk. What it has changed stays.",
    access: MANAGE,
    params: ID_PARAMS,
    answers: { 200: { description: "The operation.", schema: OPERATION } },
    problems: [404],
  } as const;
  return route(form, async ({ params: { id }, mill, identity }) => {
    const operation = await mill.operations.stop(id, { actor: identity.actor });
    return Response.json(shown(operation, new Redactor(redaction, identity)));
  });
}
