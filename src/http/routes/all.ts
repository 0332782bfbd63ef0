/** All routes of the API. */
import type { AppParts } from "../parts.ts";
import type { Route } from "../route.ts";
import { enqueueRoutes } from "./enqueue.ts";
import { jobRoutes } from "./jobs.ts";
import { serviceRoutes } from "./service.ts";
import { sessionRoutes } from "./session.ts";

/** Routes with fixed names come before those with a parameter in the same place. */
export function allRoutes(parts: AppParts): readonly Route[] {
  return [
    ...serviceRoutes(parts),
    ...sessionRoutes(parts),
    ...enqueueRoutes(parts),
    ...jobRoutes(parts),
  ];
}
