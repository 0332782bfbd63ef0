/** Closed intakes: which new jobs the installation refuses. */
import { z } from "@hono/zod-openapi";
import { actedBy } from "../../acted-by.ts";
import { OPERATE, SEE } from "../../identity/identity.ts";
import { route, type Route } from "../../route.ts";
import { MOMENT, NAME, NEEDED_REASON, REASON, TEXT, TEXT_OR_NULL } from "../../schemas/common.ts";
import { targetOf } from "../operations.ts";

const KIND = z.enum(["lane", "type", "tenant", "installation"]);
const PARAMS = z.strictObject({ kind: KIND, name: NAME });
const PATH = "/api/v1/intakes/{kind}/{name}";

const INTAKE = z
  .strictObject({
    kind: KIND,
    name: TEXT,
    reason: TEXT,
    closedBy: TEXT_OR_NULL,
    closedAt: MOMENT,
  })
  .openapi("ClosedIntake");

export function intakeRoutes(): readonly Route[] {
  return [listRoute(), closeRoute(), openRoute()];
}

function listRoute(): Route {
  const form = {
    method: "get",
    path: "/api/v1/intakes",
    name: "listIntakes",
    summary: "Lists the closed intakes, with who closed them and why.",
    access: SEE,
    answers: {
      200: {
        description: "All closed intakes.",
        schema: z.strictObject({ intakes: z.array(INTAKE) }),
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ mill }) => Response.json({ intakes: await mill.intake.list() }));
}

function closeRoute(): Route {
  const form = {
    method: "put",
    path: PATH,
    name: "closeIntake",
    summary:
      "Closes the intake of a lane, a type, a tenant or the installation (`all`): its new jobs " +
      "are refused with 503 and the code INTAKE_CLOSED.",
    access: OPERATE,
    params: PARAMS,
    body: z.strictObject({ reason: NEEDED_REASON }),
    answers: { 204: { description: "Closed." } },
    problems: [],
  } as const;
  return route(form, async ({ params, body: { reason }, mill, identity: { actor } }) => {
    await mill.intake.close(targetOf(params), reason, { actor });
    return new Response(null, { status: 204 });
  });
}

function openRoute(): Route {
  const form = {
    method: "delete",
    path: PATH,
    name: "openIntake",
    summary: "Opens an intake.",
    access: OPERATE,
    params: PARAMS,
    query: REASON,
    answers: {
      200: {
        description: "Whether the intake was closed.",
        schema: z.strictObject({ wasClosed: z.boolean() }),
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ params, query: { reason }, mill, identity }) =>
    Response.json(await mill.intake.open(targetOf(params), actedBy(identity, reason))),
  );
}
