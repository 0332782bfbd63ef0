/** `/api/v1/payload-rules`: what the payloads of new jobs must have, and must not have. */
import { z } from "@hono/zod-openapi";
import type { PayloadRuleTarget } from "../../../api/control/payload-rules.ts";
import {
  FIELD_KINDS,
  SENSITIVE_ACTIONS,
  type PayloadRule,
  type SensitiveSet,
} from "../../../core/payload-rules/rule.ts";
import { MANAGE_INSTANCE, SEE } from "../../identity/identity.ts";
import { route, type Route } from "../../route.ts";
import { MOMENT, NAME, REMARK, TEXT, TEXT_OR_NULL } from "../../schemas/common.ts";

const SCOPE = z.enum(["installation", "category", "type"]);
const PARAMS = z.strictObject({ scope: SCOPE, name: NAME });
const PATH = "/api/v1/payload-rules/{scope}/{name}";
const SIZE = z.int().min(1).max(1_000_000).optional();

const ACTION = z.enum(SENSITIVE_ACTIONS).optional();

const RULE = z
  .strictObject({
    required: z.record(NAME, z.enum(FIELD_KINDS)).optional(),
    softBytes: SIZE,
    hardBytes: SIZE,
    forbidden: z.array(NAME).max(100).optional(),
    sensitive: z
      .strictObject({
        passwords: ACTION,
        tokens: ACTION,
        keys: ACTION,
        cards: ACTION,
        mail_bodies: ACTION,
        document_content: ACTION,
      } satisfies Record<SensitiveSet, z.ZodType>)
      .optional(),
    strict: z.boolean().optional(),
  })
  .openapi("PayloadRule");

const STORED_RULE = z
  .strictObject({
    scope: SCOPE,
    name: TEXT,
    rule: RULE,
    owner: z.enum(["code", "operator"]),
    setBy: TEXT_OR_NULL,
    reason: TEXT_OR_NULL,
    setAt: MOMENT,
  })
  .openapi("StoredPayloadRule");

export function payloadRuleRoutes(): readonly Route[] {
  return [listRoute(), setRoute(), removeRoute()];
}

function listRoute(): Route {
  const form = {
    method: "get",
    path: "/api/v1/payload-rules",
    name: "listPayloadRules",
    summary: "Lists the rules for payloads of the installation, its categories and types.",
    access: SEE,
    answers: {
      200: { description: "All rules.", schema: z.strictObject({ rules: z.array(STORED_RULE) }) },
    },
    problems: [],
  } as const;
  return route(form, async ({ mill }) => Response.json({ rules: await mill.payloadRules.list() }));
}

function setRoute(): Route {
  const form = {
    method: "put",
    path: PATH,
    name: "setPayloadRule",
    summary:
      "Sets the rule of a type, a category or the installation (`all`), in place of the one " +
      "before. New jobs that break a rule are refused with 422.",
    access: MANAGE_INSTANCE,
    params: PARAMS,
    body: z.strictObject({ rule: RULE, reason: REMARK.optional() }),
    answers: { 204: { description: "Set." } },
    problems: [],
  } as const;
  return route(form, async ({ params, body: { rule, reason }, mill, identity: { actor } }) => {
    const by = { actor, ...(reason === undefined ? {} : { reason }) };
    await mill.payloadRules.set(targetOf(params), given(rule), by);
    return new Response(null, { status: 204 });
  });
}

function removeRoute(): Route {
  const form = {
    method: "delete",
    path: PATH,
    name: "removePayloadRule",
    summary: "Removes the rule of a type, a category or the installation.",
    access: MANAGE_INSTANCE,
    params: PARAMS,
    query: z.strictObject({ reason: REMARK.optional() }),
    answers: {
      200: {
        description: "Whether there was a rule.",
        schema: z.strictObject({ wasSet: z.boolean() }),
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ params, query: { reason }, mill, identity: { actor } }) => {
    const by = { actor, ...(reason === undefined ? {} : { reason }) };
    return Response.json({ wasSet: await mill.payloadRules.remove(targetOf(params), by) });
  });
}

function targetOf({ scope, name }: z.output<typeof PARAMS>): PayloadRuleTarget {
  if (scope === "installation") return { installation: true };
  return scope === "category" ? { category: name } : { type: name };
}

/** The rule without the parts that are undefined. */
function given(rule: z.output<typeof RULE>): PayloadRule {
  return JSON.parse(JSON.stringify(rule));
}
