/** The schemas of jobs in answers. */
import { z } from "@hono/zod-openapi";
import { STATES, type State } from "../../core/job.ts";
import { ANYTHING, COUNT, MOMENT, MOMENT_OR_NULL, TEXT, TEXT_OR_NULL, TOTAL } from "./common.ts";

export const STATE: z.ZodType<State> = z.enum(STATES);

export const FAULT: z.ZodType = z
  .strictObject({
    class: z.enum(["transient", "retryable", "non_retryable", "rate_limited"]),
    name: TEXT,
    message: TEXT,
    stack: TEXT.optional(),
    service: TEXT.optional(),
    cause: TEXT.optional().openapi({ description: "Equal for failures of one cause." }),
  })
  .openapi("Fault");

const OUTCOME: z.ZodType = TEXT_OR_NULL.openapi({
  description: "How the last run ended, such as succeeded.",
});

const GATE_KIND = z.enum(["lane", "type", "tenant", "service", "installation"]);

const HELD_BY = z
  .discriminatedUnion("kind", [
    z.strictObject({ kind: GATE_KIND, name: TEXT }),
    z.strictObject({
      kind: z.literal("limit"),
      of: z.strictObject({ kind: GATE_KIND, name: TEXT }),
    }),
    z.strictObject({ kind: z.literal("key"), name: TEXT }),
    z.strictObject({ kind: z.literal("after") }),
  ])
  .openapi("HeldBy", {
    description: "What holds a queued job back, such as a closed gate or a limit that is used up.",
  });

export const JOB: z.ZodType = z
  .strictObject({
    id: TEXT,
    type: TEXT,
    state: STATE,
    tenant: TEXT,
    lane: TEXT,
    category: TEXT_OR_NULL,
    priority: COUNT,
    payload: ANYTHING,
    payloadVersion: TEXT_OR_NULL,
    result: ANYTHING,
    damaged: z
      .array(z.enum(["payload", "result"]))
      .optional()
      .openapi({ description: "Values whose stored text is damaged. They read as null." }),
    outcome: OUTCOME,
    error: FAULT.nullable(),
    progress: z.number().min(0).max(100),
    phase: TEXT_OR_NULL,
    attempts: COUNT,
    maxAttempts: COUNT,
    correlationId: TEXT,
    parentId: TEXT_OR_NULL,
    retryOf: TEXT_OR_NULL,
    idempotencyKey: TEXT_OR_NULL,
    dedupKey: TEXT_OR_NULL,
    concurrencyKey: TEXT_OR_NULL,
    tags: z.record(z.string(), TEXT),
    createdBy: TEXT_OR_NULL,
    createdAt: MOMENT,
    scheduledAt: MOMENT.openapi({
      description: "The first planned time; a retry does not change it.",
    }),
    runAt: MOMENT_OR_NULL,
    startedAt: MOMENT_OR_NULL,
    finishedAt: MOMENT_OR_NULL,
    cancelReason: TEXT_OR_NULL,
    heldBy: HELD_BY.nullable(),
    stale: z.boolean().openapi({ description: "True when the job will soon be removed." }),
  })
  .openapi("Job");

export const JOB_PAGE: z.ZodType = z
  .strictObject({
    jobs: z.array(JOB),
    next: TEXT_OR_NULL,
    cutShort: z.boolean().openapi({
      description: "True when the search reached its maximum before the page was full.",
    }),
    total: TOTAL.optional(),
  })
  .openapi("JobPage");

export const ENQUEUED: z.ZodType = z
  .strictObject({
    id: TEXT,
    type: TEXT,
    state: STATE.nullable().openapi({
      description: "Null when the key belongs to a job that has been removed.",
    }),
    created: z.boolean().openapi({ description: "False when the job already existed." }),
  })
  .openapi("Enqueued");
