/** Faults that are planted into a route, to show that a run finds them. */
import type { AppParts } from "../../../../src/http/parts.ts";
import type { Route } from "../../../../src/http/route.ts";

export const PLANTS = ["500", "leak", "hang"] as const;
export type Plant = (typeof PLANTS)[number];

/** The routes, one of which has the fault. */
export function planted(
  routes: readonly Route[],
  parts: AppParts,
  plant: Plant | null,
): readonly Route[] {
  if (plant === null) return routes;
  const { name, answer } = FAULTS[plant];
  return routes.map((route) => {
    if (route.name !== name) return route;
    return { ...route, answer: (call) => answer(route, parts)(call) };
  });
}

interface Fault {
  readonly name: string;
  readonly answer: (route: Route, parts: AppParts) => Route["answer"];
}

const FAULTS: Readonly<Record<Plant, Fault>> = {
  // A query parameter that no test has tried.
  "500": {
    name: "listUnits",
    answer: (route) => async (call) => {
      if (call.request.url.includes("state=failed")) throw new TypeError("planted");
      return route.answer(call);
    },
  },
  // A route that asks the mill of all tenants.
  leak: {
    name: "getJobProgress",
    answer:
      (route, { mill }) =>
      (call) =>
        route.answer({ ...call, mill }),
  },
  // A wait that nothing ends, and no time limit of the server either.
  hang: {
    name: "listLogLines",
    answer: (route) => (call) =>
      call.request.url.includes("wait=5ms") ? new Promise(() => {}) : route.answer(call),
  },
};
