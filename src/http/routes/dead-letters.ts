/** `/api/v1/dead-letters`: the review of failed jobs. */
import { z } from "@hono/zod-openapi";
import type { DeadLetterCountFilter } from "../../api/control/letters.ts";
import { defined, momentOf, MOMENT_TEXT } from "../moments.ts";
import { MANAGE, OPERATE, SEE } from "../identity/identity.ts";
import type { AppParts } from "../parts.ts";
import { Redactor } from "../redaction.ts";
import { route, type Route } from "../route.ts";
import {
  ANYTHING,
  COUNT,
  ID,
  ID_PARAMS,
  LIMIT,
  MOMENT,
  MOMENT_OR_NULL,
  NAME,
  NEEDED_REASON,
  REMARK,
  TEXT,
  TEXT_OR_NULL,
  TOTAL,
  WITH_TOTAL,
} from "../schemas/common.ts";
import { FAULT, STATE } from "../schemas/jobs.ts";
import { redactedLetter, redactedText } from "../views.ts";

const PATH = "/api/v1/dead-letters";
export const STATUSES = ["pending_review", "acknowledged", "reprocessed", "discarded"] as const;
export const CLASSES = ["transient", "retryable", "non_retryable", "rate_limited"] as const;
const PROBLEMS = [404, 409] as const;

export const LETTER: z.ZodType = z
  .strictObject({
    id: TEXT,
    jobId: TEXT,
    status: z.enum(STATUSES),
    error: FAULT,
    cause: TEXT,
    type: TEXT,
    tenant: TEXT,
    attempts: COUNT,
    diedAt: MOMENT,
    reviewedBy: TEXT_OR_NULL,
    reviewedAt: MOMENT_OR_NULL,
    notes: TEXT_OR_NULL,
    assignedTo: TEXT_OR_NULL,
    reviews: z.array(
      z.strictObject({
        at: MOMENT,
        by: TEXT,
        act: z.enum(["acknowledged", "discarded", "reprocessed", "assigned", "noted"]),
        notes: TEXT_OR_NULL,
        to: TEXT_OR_NULL,
        changes: z.array(
          z.strictObject({
            path: TEXT,
            before: ANYTHING.optional(),
            after: ANYTHING.optional(),
          }),
        ),
      }),
    ),
    category: TEXT_OR_NULL,
    correlationId: TEXT_OR_NULL,
    idempotencyKey: TEXT_OR_NULL,
    dedupKey: TEXT_OR_NULL,
    concurrencyKey: TEXT_OR_NULL,
    originalCreatedAt: MOMENT_OR_NULL,
    history: z.array(
      z.strictObject({ number: COUNT, outcome: TEXT, finishedAt: MOMENT, error: FAULT }),
    ),
    successorId: TEXT_OR_NULL,
    payload: ANYTHING,
    damaged: z.array(z.enum(["payload"])).optional(),
  })
  .openapi("DeadLetter");

const REPROCESSED = z
  .strictObject({
    id: TEXT,
    type: TEXT,
    state: STATE.nullable(),
    created: z.boolean().openapi({ description: "False when it was reprocessed before." }),
    deadLetterId: TEXT.openapi({ description: "The dead letter that the job repeats." }),
    idempotencyKey: TEXT_OR_NULL.openapi({ description: "The key of the successor." }),
  })
  .openapi("Reprocessed");

const FILTERS = {
  status: z.enum(STATUSES).optional(),
  type: NAME.optional(),
  tenant: NAME.optional(),
  category: NAME.optional(),
  correlation_id: NAME.optional(),
  cause: NAME.optional(),
  error_class: z.enum(CLASSES).optional(),
  assigned_to: NAME.optional(),
  created_after: MOMENT_TEXT.optional(),
  created_before: MOMENT_TEXT.optional(),
};
type Filters = z.infer<z.ZodObject<typeof FILTERS>>;

const COUNTS = z.array(z.strictObject({ name: TEXT_OR_NULL, count: COUNT }));

const STATS = z
  .strictObject({
    count: COUNT,
    atLeast: z.boolean(),
    oldestAt: MOMENT_OR_NULL,
    oldestPendingAt: MOMENT_OR_NULL,
    last24Hours: COUNT,
    byStatus: z.strictObject({
      pending_review: COUNT,
      acknowledged: COUNT,
      reprocessed: COUNT,
      discarded: COUNT,
    }),
    byCategory: COUNTS,
    byType: COUNTS,
    byErrorClass: COUNTS,
  })
  .openapi("DeadLetterStats");

export function deadLetterRoutes(parts: AppParts): readonly Route[] {
  return [
    listRoute(parts),
    statsRoute(),
    getRoute(parts),
    textsRoute(parts),
    reviewRoute("acknowledge"),
    reviewRoute("discard"),
    noteRoute(),
    assignRoute(),
    reprocessRoute(),
  ];
}

function listRoute({ redaction, clock }: AppParts): Route {
  const form = {
    method: "get",
    path: PATH,
    name: "listDeadLetters",
    summary: "Lists dead letters, newest first, in pages.",
    access: SEE,
    query: z.strictObject({
      ...FILTERS,
      count: WITH_TOTAL,
      after: ID.optional().openapi({ description: "The id of the last one of the page before." }),
      limit: LIMIT,
    }),
    answers: {
      200: {
        description: "One page; `next` is the `after` of the next one.",
        schema: z.strictObject({
          deadLetters: z.array(LETTER),
          next: TEXT_OR_NULL,
          total: TOTAL.optional(),
        }),
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ query, mill, identity }) => {
    const redactor = new Redactor(redaction, identity);
    const { count, after, limit, ...wanted } = query;
    const filter = filterOf(wanted, clock.now());
    const letters = await mill.deadLetters.list(defined({ ...filter, limit, after }));
    const next = letters.length < limit ? null : (letters.at(-1)?.id ?? null);
    const deadLetters = letters.map((letter) => redactedLetter(letter, redactor));
    const total = count === "true" ? { total: await mill.deadLetters.count(filter) } : {};
    return Response.json({ deadLetters, next, ...total });
  });
}

function filterOf(
  { correlation_id, error_class, assigned_to, created_after, created_before, ...same }: Filters,
  now: number,
): DeadLetterCountFilter {
  return defined({
    ...same,
    correlationId: correlation_id,
    errorClass: error_class,
    assignedTo: assigned_to,
    createdAfter: momentOf("created_after", created_after, now),
    createdBefore: momentOf("created_before", created_before, now),
  });
}

function statsRoute(): Route {
  const form = {
    method: "get",
    path: `${PATH}/stats`,
    name: "getDeadLetterStats",
    summary: "Counts dead letters by status, category, type and class of error.",
    access: SEE,
    answers: { 200: { description: "The counts.", schema: STATS } },
    problems: [],
  } as const;
  return route(form, async ({ mill }) => Response.json(await mill.deadLetters.stats()));
}

function getRoute({ redaction }: AppParts): Route {
  const form = {
    method: "get",
    path: `${PATH}/{id}`,
    name: "getDeadLetter",
    summary: "Returns one dead letter.",
    access: SEE,
    params: ID_PARAMS,
    answers: { 200: { description: "The dead letter.", schema: LETTER } },
    problems: [404],
  } as const;
  return route(form, async ({ params: { id }, mill, identity }) => {
    const letter = await mill.deadLetters.get(id);
    return Response.json(redactedLetter(letter, new Redactor(redaction, identity)));
  });
}

function textsRoute({ redaction }: AppParts): Route {
  const form = {
    method: "get",
    path: `${PATH}/{id}/texts`,
    name: "getDeadLetterTexts",
    summary: "Returns the payload as the JSON text that is stored, numbers exact.",
    access: SEE,
    params: ID_PARAMS,
    answers: {
      200: {
        description:
          "The text, without what the caller may not read. A damaged text is null for all but " +
          "managers.",
        schema: z.strictObject({ payload: TEXT_OR_NULL }),
      },
    },
    problems: [404],
  } as const;
  return route(form, async ({ params: { id }, mill, identity }) => {
    const { payload } = await mill.deadLetters.texts(id);
    return Response.json({ payload: redactedText(payload, new Redactor(redaction, identity)) });
  });
}

/** To discard a dead letter is a decision that needs a reason; to acknowledge one is not. */
function reviewRoute(verb: "acknowledge" | "discard"): Route {
  const isFinal = verb === "discard";
  const form = {
    method: "post",
    path: `${PATH}/{id}/${verb}`,
    name: `${verb}DeadLetter`,
    summary: isFinal ? "Closes a dead letter without a successor." : "Marks it as reviewed.",
    access: isFinal ? MANAGE : OPERATE,
    params: ID_PARAMS,
    body: z.strictObject({ notes: isFinal ? NEEDED_REASON : REMARK.optional() }),
    answers: { 204: { description: "Done." } },
    problems: PROBLEMS,
  } as const;
  return route(form, async ({ params: { id }, body: { notes }, mill, identity: { actor } }) => {
    await mill.deadLetters[verb](id, notes === undefined ? { actor } : { actor, notes });
    return new Response(null, { status: 204 });
  });
}

function noteRoute(): Route {
  const form = {
    method: "post",
    path: `${PATH}/{id}/notes`,
    name: "noteDeadLetter",
    summary: "Adds notes to a dead letter.",
    access: OPERATE,
    params: ID_PARAMS,
    body: z.strictObject({ notes: REMARK }),
    answers: { 204: { description: "Done." } },
    problems: [404],
  } as const;
  return route(form, async ({ params: { id }, body: { notes }, mill, identity: { actor } }) => {
    await mill.deadLetters.note(id, { actor, notes });
    return new Response(null, { status: 204 });
  });
}

function assignRoute(): Route {
  const form = {
    method: "post",
    path: `${PATH}/{id}/assign`,
    name: "assignDeadLetter",
    summary: "Assigns an open dead letter to a person, or with null to no person.",
    access: OPERATE,
    params: ID_PARAMS,
    body: z.strictObject({ to: NAME.nullable(), notes: REMARK.optional() }),
    answers: { 204: { description: "Done." } },
    problems: PROBLEMS,
  } as const;
  return route(form, async ({ params: { id }, body, mill, identity: { actor } }) => {
    const { to, notes } = body;
    await mill.deadLetters.assign(id, { actor, to, ...(notes === undefined ? {} : { notes }) });
    return new Response(null, { status: 204 });
  });
}

function reprocessRoute(): Route {
  const form = {
    method: "post",
    path: `${PATH}/{id}/reprocess`,
    name: "reprocessDeadLetter",
    summary: "Enqueues a successor of the failed job, with the same or another payload.",
    access: MANAGE,
    params: ID_PARAMS,
    body: z.strictObject({ notes: NEEDED_REASON, payload: ANYTHING.optional() }),
    keepsDigits: true,
    answers: { 200: { description: "The successor.", schema: REPROCESSED } },
    problems: [...PROBLEMS, 422],
  } as const;
  return route(form, async ({ params: { id }, body, mill, identity: { actor } }) => {
    const by: any = { actor, ...body };
    return Response.json(await mill.deadLetters.reprocess(id, by));
  });
}
