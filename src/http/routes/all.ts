/** All routes of the API. */
import type { AppParts } from "../parts.ts";
import type { Route } from "../route.ts";
import { auditRoutes } from "./audit.ts";
import { bulkRoutes } from "./control/bulk.ts";
import { breakerRoutes } from "./breakers.ts";
import { deadLetterRoutes } from "./dead-letters.ts";
import { enqueueRoutes } from "./enqueue.ts";
import { eventRoutes } from "./events.ts";
import { failureRoutes } from "./failures.ts";
import { fairnessRoutes } from "./control/fairness.ts";
import { intakeRoutes } from "./control/intakes.ts";
import { payloadRuleRoutes } from "./control/payload-rules.ts";
import { jobActionRoutes } from "./job-actions.ts";
import { jobPartRoutes } from "./job-parts.ts";
import { jobRoutes } from "./jobs.ts";
import { metricsRoutes } from "./metrics.ts";
import { limitRoutes } from "./control/limits.ts";
import { operationRoutes } from "./operations.ts";
import { scheduleRoutes } from "./schedules.ts";
import { runningRoutes } from "./control/running.ts";
import { serviceRoutes } from "./service.ts";
import { tenantRoutes } from "./control/tenants.ts";
import { sessionRoutes } from "./session.ts";
import { tokenRoutes } from "./tokens.ts";
import { typeRoutes } from "./types.ts";

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
    ...failureRoutes(parts),
    ...bulkRoutes(parts),
    ...operationRoutes(),
    ...metricsRoutes(parts),
    ...scheduleRoutes(parts),
    ...runningRoutes(),
    ...limitRoutes(),
    ...fairnessRoutes(),
    ...intakeRoutes(),
    ...auditRoutes(parts),
    ...payloadRuleRoutes(),
    ...tenantRoutes(),
    ...tokenRoutes(),
    ...typeRoutes(),
    ...breakerRoutes(parts),
  ];
}
