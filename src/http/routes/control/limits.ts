/** Limits: how many jobs may run at the same time, and how many may start in a period. */
import { z } from "@hono/zod-openapi";
import type { LimitRule, LimitTarget } from "../../../api/control/limits.ts";
import { MillraceError } from "../../../core/errors.ts";
import { MANAGE_INSTANCE, SEE_INSTANCE } from "../../identity/identity.ts";
import { route, type Route } from "../../route.ts";
import {
  COUNT,
  KEY,
  MOMENT,
  NAME,
  NEEDED_REASON,
  TEXT,
  TEXT_OR_NULL,
} from "../../schemas/common.ts";

const KINDS = ["type", "tenant", "service", "installation", "key"] as const;
/** The tenant of a concurrency key. */
const QUERY = z.strictObject({ tenant: NAME.optional() });
const REMOVE_QUERY = QUERY.extend({ reason: NEEDED_REASON });
const PARAMS = z.strictObject({ kind: z.enum(KINDS), name: KEY });
const PERMITS = z.int().min(1).max(1_000_000_000);
const BODY = z
  .strictObject({
    concurrency: PERMITS.optional(),
    rate: z
      .strictObject({
        limit: PERMITS,
        perMs: z.int().min(1).max(9_000_000_000_000),
        burst: PERMITS.optional(),
      })
      .optional(),
    reason: NEEDED_REASON,
  })
  .openapi("LimitRule", { description: "At least one of concurrency and rate." });

const LIMIT = z
  .strictObject({
    kind: z.enum(KINDS),
    name: TEXT,
    tenant: TEXT_OR_NULL,
    concurrency: COUNT.nullable(),
    rate: z.strictObject({ limit: COUNT, perMs: COUNT, burst: COUNT }).nullable(),
    used: COUNT.nullable(),
    nextStartMs: COUNT.nullable(),
    owner: z.enum(["code", "operator"]),
    setBy: TEXT_OR_NULL,
    setAt: MOMENT,
    queued: COUNT,
    atLeast: z.boolean(),
  })
  .openapi("Limit");

export function limitRoutes(): readonly Route[] {
  const list = {
    method: "get",
    path: "/api/v1/limits",
    name: "listLimits",
    summary: "Lists the limits, with what is used of each and how many jobs wait.",
    access: SEE_INSTANCE,
    answers: {
      200: { description: "All limits.", schema: z.strictObject({ limits: z.array(LIMIT) }) },
    },
    problems: [],
  } as const;
  return [
    route(list, async ({ mill }) => Response.json({ limits: await mill.limits.list() })),
    ...namedRoutes(),
  ];
}

function namedRoutes(): readonly Route[] {
  const form = { path: "/api/v1/limits/{kind}/{name}", params: PARAMS };
  return [
    route(
      { ...SET, ...form, name: "setLimit" },
      async ({ params, query, body: { reason, ...rule }, mill, identity: { actor } }) => {
        await mill.limits.set(targetOf(params, query), ruleOf(rule), { actor, reason });
        return new Response(null, { status: 204 });
      },
    ),
    route(
      { ...REMOVE, ...form, name: "removeLimit" },
      async ({ params, query: { reason, ...query }, mill, identity: { actor } }) => {
        const wasSet = await mill.limits.remove(targetOf(params, query), { actor, reason });
        return Response.json({ wasSet });
      },
    ),
  ];
}

const SET = {
  method: "put",
  summary: "Sets a limit. It counts from the next claims on; running jobs continue.",
  access: MANAGE_INSTANCE,
  query: QUERY,
  body: BODY,
  answers: { 204: { description: "The limit is set." } },
  problems: [],
} as const;

const REMOVE = {
  method: "delete",
  summary: "Removes a limit. What the code of a type states counts again.",
  access: MANAGE_INSTANCE,
  query: REMOVE_QUERY,
  answers: {
    200: {
      description: "Whether an operator had set the limit.",
      schema: z.strictObject({ wasSet: z.boolean() }),
    },
  },
  problems: [],
} as const;

function targetOf(
  { kind, name }: z.output<typeof PARAMS>,
  { tenant }: z.output<typeof QUERY>,
): LimitTarget {
  if (kind === "key") return { key: name, ...(tenant !== undefined && { tenant }) };
  if (tenant !== undefined) {
    throw new MillraceError("OPTION_INVALID", "the query tenant belongs to the limit of a key");
  }
  if (kind === "type") return { type: name };
  if (kind === "tenant") return { tenant: name };
  if (kind === "service") return { service: name };
  if (name === "all") return { installation: true };
  throw new MillraceError("OPTION_INVALID", "the name of the installation is all");
}

function ruleOf({ concurrency, rate }: Omit<z.output<typeof BODY>, "reason">): LimitRule {
  return {
    ...(concurrency !== undefined && { concurrency }),
    ...(rate && {
      rate: {
        limit: rate.limit,
        per: rate.perMs,
        ...(rate.burst !== undefined && { burst: rate.burst }),
      },
    }),
  };
}
