/** Fair lanes: tenants start jobs in proportion to their weights. */
import { z } from "@hono/zod-openapi";
import { WEIGHT_MAX } from "../../../core/control/fairness.ts";
import { actedBy } from "../../acted-by.ts";
import { OPERATE_INSTANCE, SEE_INSTANCE } from "../../identity/identity.ts";
import { route, type Route } from "../../route.ts";
import { MOMENT, NAME, REASON, TEXT, TEXT_OR_NULL } from "../../schemas/common.ts";

const PARAMS = z.strictObject({ lane: NAME });
const WEIGHTS = z.record(NAME, z.int().min(1).max(WEIGHT_MAX));
const BODY = REASON.extend({ weights: WEIGHTS.optional() }).openapi("FairnessRule", {
  description: "The weights of tenants by name. Every other tenant has weight 1.",
});

const FAIR_LANE = z
  .strictObject({
    lane: TEXT,
    weights: WEIGHTS,
    owner: z.enum(["code", "operator"]),
    setBy: TEXT_OR_NULL,
    setAt: MOMENT,
  })
  .openapi("FairLane");

export function fairnessRoutes(): readonly Route[] {
  const list = {
    method: "get",
    path: "/api/v1/fairness",
    name: "listFairLanes",
    summary: "Lists the fair lanes, with the weights of tenants.",
    access: SEE_INSTANCE,
    answers: {
      200: {
        description: "All fair lanes.",
        schema: z.strictObject({ lanes: z.array(FAIR_LANE) }),
      },
    },
    problems: [],
  } as const;
  return [
    route(list, async ({ mill }) => Response.json({ lanes: await mill.fairness.list() })),
    ...namedRoutes(),
  ];
}

function namedRoutes(): readonly Route[] {
  const form = { path: "/api/v1/fairness/{lane}", params: PARAMS };
  return [
    route({ ...SET, ...form, name: "setFairness" }, async ({ params, body, mill, identity }) => {
      const { weights = {}, reason } = body;
      await mill.fairness.set(params.lane, { weights }, actedBy(identity, reason));
      return new Response(null, { status: 204 });
    }),
    route(
      { ...REMOVE, ...form, name: "removeFairness" },
      async ({ params: { lane }, query: { reason }, mill, identity }) =>
        Response.json({ wasSet: await mill.fairness.remove(lane, actedBy(identity, reason)) }),
    ),
  ];
}

const SET = {
  method: "put",
  summary: "Makes a lane fair, or changes the weights of its tenants.",
  access: OPERATE_INSTANCE,
  body: BODY,
  answers: { 204: { description: "The lane is fair." } },
  problems: [],
} as const;

const REMOVE = {
  method: "delete",
  summary: "Removes the fairness of a lane. What the code of a worker states counts again.",
  access: OPERATE_INSTANCE,
  query: REASON,
  answers: {
    200: {
      description: "Whether an operator had made the lane fair.",
      schema: z.strictObject({ wasSet: z.boolean() }),
    },
  },
  problems: [],
} as const;
