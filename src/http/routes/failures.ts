/** `/api/v1/failures`: dead letters by cause. */
import { z } from "@hono/zod-openapi";
import type { FailureGroup } from "../../api/control/failures.ts";
import { MANAGE, OPERATE, SEE } from "../identity/identity.ts";
import type { AppParts } from "../parts.ts";
import { Redactor } from "../redaction.ts";
import { route, type Route } from "../route.ts";
import {
  COUNT,
  MOMENT,
  MOMENT_OR_NULL,
  NAME,
  NEEDED_REASON,
  REMARK,
  TEXT,
  TEXT_OR_NULL,
} from "../schemas/common.ts";
import { FAULT } from "../schemas/jobs.ts";

const PATH = "/api/v1/failures";
const PAGE_MAX = 100;

const CAUSE = z
  .string()
  .regex(/^[0-9a-f]{16}$/)
  .openapi({ description: "A cause, as a dead letter shows it." });
const CAUSE_PARAMS = z.strictObject({
  cause: CAUSE,
});

const GROUP = z
  .strictObject({
    cause: TEXT,
    count: COUNT,
    atLeast: z.boolean().openapi({ description: "True when there are more than `count`." }),
    status: z.enum(["new", "open", "acknowledged", "snoozed", "returned"]),
    types: z.array(TEXT),
    firstSeenAt: MOMENT,
    lastSeenAt: MOMENT,
    trend: z.array(COUNT).openapi({ description: "The last 24 hours, oldest first." }),
    sample: z.strictObject({ jobId: TEXT, tenant: TEXT, error: FAULT }),
    decidedBy: TEXT_OR_NULL,
    decidedAt: MOMENT_OR_NULL,
    until: MOMENT_OR_NULL,
    notes: TEXT_OR_NULL,
  })
  .openapi("FailureGroup");

const LETTERS_MAX = 10_000;
const CHANGE = z.strictObject({
  notes: NEEDED_REASON,
  tenant: NAME.optional(),
  limit: z.int().min(1).max(LETTERS_MAX).default(LETTERS_MAX),
});

export function failureRoutes({ redaction }: AppParts): readonly Route[] {
  return [
    listRoute(redaction),
    getRoute(redaction),
    acknowledgeRoute(),
    snoozeRoute(),
    retryRoute(),
    discardRoute(),
  ];
}

function redacted(group: FailureGroup, redactor: Redactor): object {
  const { sample, notes } = group;
  return {
    ...group,
    sample: { ...sample, error: redactor.fault(sample.error) },
    notes: notes === null ? null : redactor.text(notes),
  };
}

function listRoute(redaction: AppParts["redaction"]): Route {
  const form = {
    method: "get",
    path: PATH,
    name: "listFailures",
    summary: "Groups open dead letters by cause, the group that failed last first.",
    access: SEE,
    query: z.strictObject({
      tenant: NAME.optional(),
      limit: z.int().min(1).max(PAGE_MAX).default(50),
      after: CAUSE.optional(),
    }),
    answers: {
      200: {
        description: "The groups.",
        schema: z.strictObject({ failures: z.array(GROUP) }),
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ query, mill, identity }) => {
    const { tenant, limit, after } = query;
    const redactor = new Redactor(redaction, identity);
    const groups = await mill.failures.list({
      limit,
      ...scope(tenant),
      ...(after === undefined ? {} : { after }),
    });
    return Response.json({ failures: groups.map((group) => redacted(group, redactor)) });
  });
}

function scope(tenant: string | undefined): { tenant?: string } {
  return tenant === undefined ? {} : { tenant };
}

function getRoute(redaction: AppParts["redaction"]): Route {
  const form = {
    method: "get",
    path: `${PATH}/{cause}`,
    name: "getFailure",
    summary: "Returns the group of one cause.",
    access: SEE,
    params: CAUSE_PARAMS,
    query: z.strictObject({ tenant: NAME.optional() }),
    answers: { 200: { description: "The group.", schema: GROUP } },
    problems: [404],
  } as const;
  return route(form, async ({ params: { cause }, query, mill, identity }) => {
    const group = await mill.failures.get(cause, scope(query.tenant));
    return Response.json(redacted(group, new Redactor(redaction, identity)));
  });
}

function acknowledgeRoute(): Route {
  const form = {
    method: "post",
    path: `${PATH}/{cause}/acknowledge`,
    name: "acknowledgeFailure",
    summary: "Marks the failures of a cause as known.",
    access: OPERATE,
    params: CAUSE_PARAMS,
    body: z.strictObject({ notes: REMARK.optional(), tenant: NAME.optional() }),
    answers: { 204: { description: "Done." } },
    problems: [404],
  } as const;
  return route(form, async ({ params: { cause }, body, mill, identity: { actor } }) => {
    const { notes, tenant } = body;
    const by = { actor, ...scope(tenant), ...(notes === undefined ? {} : { notes }) };
    await mill.failures.acknowledge(cause, by);
    return new Response(null, { status: 204 });
  });
}

function snoozeRoute(): Route {
  const form = {
    method: "post",
    path: `${PATH}/{cause}/snooze`,
    name: "snoozeFailure",
    summary: "Hides the failures of a cause until an instant.",
    access: OPERATE,
    params: CAUSE_PARAMS,
    body: z.strictObject({ until: MOMENT, notes: REMARK.optional(), tenant: NAME.optional() }),
    answers: { 204: { description: "Done." } },
    problems: [404],
  } as const;
  return route(form, async ({ params: { cause }, body, mill, identity: { actor } }) => {
    const { until, notes, tenant } = body;
    const by = { actor, until, ...scope(tenant), ...(notes === undefined ? {} : { notes }) };
    await mill.failures.snooze(cause, by);
    return new Response(null, { status: 204 });
  });
}

function retryRoute(): Route {
  const form = {
    method: "post",
    path: `${PATH}/{cause}/retry`,
    name: "retryFailure",
    summary: "Enqueues a successor for each open dead letter of a cause.",
    access: MANAGE,
    params: CAUSE_PARAMS,
    body: CHANGE,
    answers: {
      200: {
        description: "How many; `complete` is false when letters are left.",
        schema: z.strictObject({
          retried: COUNT,
          existing: COUNT,
          held: COUNT,
          refused: COUNT,
          complete: z.boolean(),
        }),
      },
    },
    problems: [404],
  } as const;
  return route(form, async ({ params: { cause }, body, mill, identity: { actor } }) => {
    const { tenant, ...rest } = body;
    return Response.json(await mill.failures.retry(cause, { actor, ...rest, ...scope(tenant) }));
  });
}

function discardRoute(): Route {
  const form = {
    method: "post",
    path: `${PATH}/{cause}/discard`,
    name: "discardFailure",
    summary: "Closes the open dead letters of a cause without successors.",
    access: MANAGE,
    params: CAUSE_PARAMS,
    body: CHANGE,
    answers: {
      200: {
        description: "How many; `complete` is false when letters are left.",
        schema: z.strictObject({ discarded: COUNT, complete: z.boolean() }),
      },
    },
    problems: [404],
  } as const;
  return route(form, async ({ params: { cause }, body, mill, identity: { actor } }) => {
    const { tenant, ...rest } = body;
    return Response.json(await mill.failures.discard(cause, { actor, ...rest, ...scope(tenant) }));
  });
}
