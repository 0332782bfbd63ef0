/** `/api/v1/views`: filters of the screens of the dashboard, saved under a name. */
import { z } from "@hono/zod-openapi";
import { actedBy } from "../../acted-by.ts";
import { OPERATE, SEE } from "../../identity/identity.ts";
import { route, type Route } from "../../route.ts";
import { MOMENT, REASON, TEXT, TEXT_OR_NULL } from "../../schemas/common.ts";

const PATH = "/api/v1/views";
const NAME = z.string().min(1).max(100);
const PARAMS = z.strictObject({ name: NAME });

const VIEW = z
  .strictObject({
    tenant: TEXT_OR_NULL.openapi({ description: "Null: of the installation." }),
    name: TEXT,
    screen: TEXT,
    query: TEXT,
    savedBy: TEXT_OR_NULL,
    savedAt: MOMENT,
  })
  .openapi("SavedView");

export function viewRoutes(): readonly Route[] {
  return [listRoute(), saveRoute(), removeRoute()];
}

function listRoute(): Route {
  const form = {
    method: "get",
    path: PATH,
    name: "listViews",
    summary: "Lists the saved views: of the tenant of the caller, and of the installation.",
    access: SEE,
    answers: {
      200: { description: "All views.", schema: z.strictObject({ views: z.array(VIEW) }) },
    },
    problems: [],
  } as const;
  return route(form, async ({ mill }) => Response.json({ views: await mill.views.list() }));
}

function saveRoute(): Route {
  const form = {
    method: "put",
    path: `${PATH}/{name}`,
    name: "saveView",
    summary: "Saves a view in place of the one before with this name.",
    access: OPERATE,
    params: PARAMS,
    body: REASON.extend({ screen: NAME, query: z.string().max(4_000) }),
    answers: { 204: { description: "Saved." } },
    problems: [],
  } as const;
  return route(form, async ({ params: { name }, body, mill, identity }) => {
    const { reason, ...view } = body;
    await mill.views.save({ name, ...view }, actedBy(identity, reason));
    return new Response(null, { status: 204 });
  });
}

function removeRoute(): Route {
  const form = {
    method: "delete",
    path: `${PATH}/{name}`,
    name: "removeView",
    summary: "Removes a saved view.",
    access: OPERATE,
    params: PARAMS,
    query: REASON,
    answers: {
      200: {
        description: "Whether there was a view.",
        schema: z.strictObject({ wasSaved: z.boolean() }),
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ params: { name }, query: { reason }, mill, identity }) =>
    Response.json({ wasSaved: await mill.views.remove(name, actedBy(identity, reason)) }),
  );
}
