/** The probes, and the counts of the dashboard. */
import { z } from "@hono/zod-openapi";
import { STATES, type State } from "../../core/job.ts";
import { SEE } from "../identity/identity.ts";
import type { AppParts, HttpMill } from "../parts.ts";
import { RequestRefusal } from "../problem.ts";
import { route, type Route } from "../route.ts";
import { COUNT, TEXT } from "../schemas/common.ts";
import { STATE } from "../schemas/jobs.ts";

/** Counting stops here, because larger counts take long and change no decision. */
const COUNT_MAX = 10_000;

export function serviceRoutes(parts: AppParts): readonly Route[] {
  return [
    route(
      {
        method: "get",
        path: "/livez",
        name: "isAlive",
        summary: "Checks that the process responds.",
        access: "public",
        answers: {
          200: { description: "The process responds.", schema: z.strictObject({ status: TEXT }) },
        },
        problems: [],
      },
      async () => Response.json({ status: "alive" }),
    ),
    readiness(parts, { path: "/readyz", name: "isReady" }),
    readiness(parts, { path: "/healthz", name: "isHealthy" }),
    overviewRoute(),
  ];
}

/** The readiness probe, under the two names that monitoring tools use. */
function readiness({ mill, closing }: AppParts, named: { path: string; name: string }): Route {
  const checks = z.strictObject({ store: TEXT });
  const form = {
    method: "get",
    ...named,
    summary: "Checks that the store responds, so that requests can be served.",
    access: "public",
    answers: {
      200: {
        description: "The store responds.",
        schema: z.strictObject({ status: TEXT, checks }),
      },
    },
    problems: [500, 503, 504],
  } as const;
  return route(form, async () => {
    if (closing.aborted) throw new RequestRefusal("STOPPING", "The server stops.");
    await mill.jobs.count({ state: "running" }, { max: 1 });
    return Response.json({ status: "ready", checks: { store: "answers" } });
  });
}

function overviewRoute(): Route {
  const counted = z.strictObject({
    state: STATE,
    count: COUNT,
    more: z.boolean().openapi({ description: "True when there are more than count." }),
  });
  const form = {
    method: "get",
    path: "/api/v1/overview",
    name: "getOverview",
    summary: "Counts the jobs in each state. Counts stop at 10,000.",
    access: SEE,
    answers: {
      200: {
        description: "All seven states.",
        schema: z.strictObject({ states: z.array(counted) }),
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ mill }) => {
    const states = await Promise.all(STATES.map((state) => countOf(mill, state)));
    return Response.json({ states });
  });
}

async function countOf(mill: HttpMill, state: State): Promise<object> {
  const { count, atLeast } = await mill.jobs.count({ state }, { max: COUNT_MAX });
  return { state, count, more: atLeast };
}
