/** The schema of `jobs.explain`: one sentence, and the data behind it for each reason. */
import { z } from "@hono/zod-openapi";
import type { ExplanationReason } from "../../api/client.ts";
import { COUNT, COUNTED, MOMENT, MOMENT_OR_NULL, TEXT, TEXT_OR_NULL } from "./common.ts";

const KNOWN = { known: z.array(TEXT), more: z.boolean() };
const LIMIT_OF = { kind: z.enum(["type", "tenant", "service", "installation", "key"]), name: TEXT };
const CRASHES = z.strictObject({ crashes: COUNT, cap: COUNT });
const END = z.strictObject({ finishedAt: MOMENT_OR_NULL });

const RUN = z.strictObject({ startedAt: MOMENT_OR_NULL, attempts: COUNT, maxAttempts: COUNT });

const SLOTS = z.strictObject({
  lane: TEXT,
  workers: COUNT,
  slots: COUNT,
  running: COUNT.nullable(),
  ahead: COUNTED.nullable(),
  fair: z.strictObject({ weight: COUNT }).nullable(),
});

const PAUSE = z.strictObject({
  kind: z.enum(["lane", "type", "tenant", "service", "installation"]),
  name: TEXT,
  by: TEXT_OR_NULL,
  reason: TEXT,
  until: MOMENT_OR_NULL,
  waiting: COUNTED.nullable(),
});

const BREAKER = z.strictObject({
  service: TEXT,
  state: z.enum(["open", "half_open"]),
  failures: COUNT,
  reason: TEXT_OR_NULL,
  by: TEXT_OR_NULL,
  probeAt: MOMENT_OR_NULL,
  probe: TEXT_OR_NULL,
  waiting: COUNTED,
});

const RETRYING = z.strictObject({
  at: MOMENT,
  attempts: COUNT,
  maxAttempts: COUNT,
  error: TEXT_OR_NULL,
});

const RATE_LIMITED = z.strictObject({
  service: TEXT,
  tenant: TEXT_OR_NULL,
  until: MOMENT,
  waiting: COUNTED,
});

const HANDLER = z.strictObject({
  job: TEXT,
  worker: TEXT,
  host: TEXT,
  pid: COUNT,
  leaseUntil: MOMENT,
});

/** The compiler refuses a reason without a schema. */
const DETAILS: Readonly<Record<ExplanationReason, z.ZodObject>> = {
  scheduled: z.strictObject({ at: MOMENT }),
  retrying: RETRYING,
  after: z.strictObject({ jobs: z.array(TEXT), more: z.boolean() }),
  handler: HANDLER,
  paused: PAUSE,
  breaker: BREAKER,
  rate_limited: RATE_LIMITED,
  no_worker: z.strictObject({ type: TEXT, lane: TEXT, tenant: TEXT }),
  quiet: z.strictObject({ workers: COUNT }),
  type_not_taken: z.strictObject({ type: TEXT, didYouMean: TEXT_OR_NULL, ...KNOWN }),
  lane_not_taken: z.strictObject({ lane: TEXT, ...KNOWN }),
  tenant_not_taken: z.strictObject({ tenant: TEXT, ...KNOWN }),
  key: z.strictObject({ name: TEXT, holder: TEXT_OR_NULL }),
  limit: z.strictObject({ ...LIMIT_OF, concurrency: COUNT, used: COUNT.nullable() }),
  rate: z.strictObject({ ...LIMIT_OF, nextStartAt: MOMENT }),
  crashed: CRASHES,
  alone: CRASHES,
  busy: SLOTS,
  waiting: SLOTS,
  buffered: RUN,
  running: RUN,
  cancelling: RUN,
  completed: END,
  completed_with_errors: END,
  cancelled: END,
  failed: END,
};

export const EXPLANATION: z.ZodType = z
  .union(Object.entries(DETAILS).map(([reason, details]) => explanationOf(reason, details)))
  .openapi("Explanation", { description: "`reason` says which `details` there are." });

function explanationOf(reason: string, details: z.ZodObject): z.ZodObject {
  return z.strictObject({
    sentence: TEXT,
    reason: z.literal(reason).openapi({ description: "The reason as one word, for programs." }),
    hint: TEXT,
    until: MOMENT.optional(),
    details,
  });
}
