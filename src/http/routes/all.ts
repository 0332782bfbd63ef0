/** All routes of the API. */
import type { AppParts } from "../parts.ts";
import type { Route } from "../route.ts";
import { attentionRoutes } from "./attention.ts";
import { auditRoutes } from "./audit.ts";
import { bulkRoutes } from "./control/bulk.ts";
import { breakerRoutes } from "./breakers.ts";
import { deadLetterRoutes } from "./dead-letters.ts";
import { enqueueRoutes } from "./enqueue.ts";
import { eventRoutes } from "./events.ts";
import { failureRoutes } from "./failures.ts";
import { fairnessRoutes } from "./control/fairness.ts";
import { laneRoutes } from "./control/lanes.ts";
import { intakeRoutes } from "./control/intakes.ts";
import { payloadRuleRoutes } from "./control/payload-rules.ts";
import { jobActionRoutes } from "./job-actions.ts";
import { jobPartRoutes } from "./job-parts.ts";
import { jobRoutes } from "./jobs.ts";
import { metricsRoutes } from "./metrics.ts";
import { longRunRoutes } from "./control/long-runs.ts";
import { limitRoutes } from "./control/limits.ts";
import { operationRoutes } from "./operations.ts";
import { scheduleRoutes } from "./schedules.ts";
import { runningRoutes } from "./control/running.ts";
import { serviceRoutes } from "./service.ts";
import { tenantRoutes } from "./control/tenants.ts";
import { sessionRoutes } from "./session.ts";
import { settingsRoutes } from "./settings.ts";
import { tokenRoutes } from "./tokens.ts";
import { typeRoutes } from "./types.ts";
import { viewRoutes } from "./control/views.ts";

/** The routes that the app serves; in a server that only reads, those that change nothing. */
export function allRoutes(parts: AppParts): readonly Route[] {
  const routes: readonly Route[] = [
    ...serviceRoutes(parts),
    ...sessionRoutes(parts),
    ...enqueueRoutes(parts),
    ...jobRoutes(parts),
    ...jobPartRoutes(parts),
    ...jobActionRoutes(parts),
    ...eventRoutes(parts),
    ...deadLetterRoutes(parts),
    ...failureRoutes(parts),
    ...bulkRoutes(parts),
    ...operationRoutes(),
    ...metricsRoutes(parts),
    ...scheduleRoutes(parts),
    ...runningRoutes(),
    ...longRunRoutes(parts),
    ...laneRoutes(),
    ...attentionRoutes(parts),
    ...limitRoutes(),
    ...fairnessRoutes(),
    ...intakeRoutes(),
    ...auditRoutes(parts),
    ...payloadRuleRoutes(),
    ...viewRoutes(),
    ...tenantRoutes(),
    ...tokenRoutes(),
    ...typeRoutes(),
    ...breakerRoutes(parts),
  ];
  const served: readonly Route[] = [...routes, ...settingsRoutes(parts, () => served)].filter(
    (route) => !parts.isReadOnly || isReading(route),
  );
  return served;
}

/** Whether a route changes nothing, or signs a browser in or out. */
function isReading({ method, path, changesNothing }: Route): boolean {
  return method === "get" || changesNothing === true || path === "/api/v1/session";
}
