/** All routes of the API. */
import type { AppParts } from "../parts.ts";
import type { Route } from "../route.ts";
import { deadLetterRoutes } from "./dead-letters.ts";
import { enqueueRoutes } from "./enqueue.ts";
import { eventRoutes } from "./events.ts";
import { jobActionRoutes } from "./job-actions.ts";
import { jobPartRoutes } from "./job-parts.ts";
import { jobRoutes } from "./jobs.ts";
import { operationRoutes } from "./operations.ts";
import { serviceRoutes } from "./service.ts";
import { sessionRoutes } from "./session.ts";
import { tokenRoutes } from "./tokens.ts";

export function allRoutes(parts: AppParts): readonly Route[] {
  return [
    ...serviceRoutes(parts),
    ...sessionRoutes(parts),
    ...enqueueRoutes(parts),
    ...jobRoutes(parts),
    ...jobPartRoutes(parts),
    ...jobActionRoutes(parts),
    ...eventRoutes(parts),
    ...deadLetterRoutes(parts),
    ...operationRoutes(),
    ...tokenRoutes(),
  ];
}
