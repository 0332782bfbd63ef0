/** The probes, and the counts of the dashboard. */
import type { State } from "../../core/job.ts";
import { STATES } from "../../core/job.ts";
import type { Route } from "../route.ts";
import type { JsonSchema } from "../schema.ts";
import { OVERVIEW, whole } from "../schemas.ts";

/** Counting stops here, because larger counts take long and change no decision. */
const COUNT_MAX = 10_000;

export interface ServiceRouteParts {
  /** Counts jobs in a state, up to `max`. Rejects when the store does not respond. */
  count(filter: { readonly states: readonly State[] }, max: number): Promise<number>;
}

const STATUS: JsonSchema = { type: "string" };

export function serviceRoutes(parts: ServiceRouteParts): readonly Route[] {
  return [
    {
      method: "get",
      path: "/livez",
      name: "isAlive",
      summary: "Checks that the process responds.",
      answers: { 200: { description: "The process responds.", schema: whole({ status: STATUS }) } },
      problems: [],
      answer: async () => Response.json({ status: "alive" }),
    },
    readiness(parts, { path: "/readyz", name: "isReady" }),
    readiness(parts, { path: "/healthz", name: "isHealthy" }),
    {
      method: "get",
      path: "/api/v1/overview",
      name: "getOverview",
      summary: "Counts the jobs in each state. Counts stop at 10,000.",
      answers: { 200: { description: "All seven states.", schema: OVERVIEW } },
      problems: [401, 503],
      answer: async () => Response.json({ states: await Promise.all(STATES.map(counted(parts))) }),
    },
  ];
}

/** The readiness probe, under the two names that monitoring tools use. */
function readiness(parts: ServiceRouteParts, named: Pick<Route, "path" | "name">): Route {
  const schema = whole({ status: STATUS, checks: whole({ store: STATUS }) });
  return {
    method: "get",
    ...named,
    summary: "Checks that the store responds, so that requests can be served.",
    answers: { 200: { description: "The store responds.", schema } },
    problems: [503],
    async answer() {
      await parts.count({ states: ["running"] }, 1);
      return Response.json({ status: "ready", checks: { store: "answers" } });
    },
  };
}

function counted(parts: ServiceRouteParts) {
  return async (state: State): Promise<{ state: State; count: number; more: boolean }> => {
    const found = await parts.count({ states: [state] }, COUNT_MAX + 1);
    return { state, count: Math.min(found, COUNT_MAX), more: found > COUNT_MAX };
  };
}
