/** The schema of `mill.attention`: sentences, and the data behind them for each rule. */
import { z } from "@hono/zod-openapi";
import type { AttentionRule } from "../../core/attention/finding.ts";
import { COUNT, COUNTED, MOMENT, MOMENT_OR_NULL, TEXT, TEXT_OR_NULL } from "./common.ts";
import { FAULT } from "./jobs.ts";

const TYPES = z.array(TEXT);
const AGE = z.number().min(0);
const CLOSED = { name: TEXT, reason: TEXT, by: TEXT_OR_NULL };
const CLOSED_KINDS = ["lane", "type", "tenant", "installation"] as const;

const BREAKER = z.strictObject({
  service: TEXT,
  state: z.enum(["open", "half_open"]),
  failures: COUNT,
  types: TYPES,
  waiting: COUNTED,
  probeAt: MOMENT_OR_NULL,
  reason: TEXT_OR_NULL,
  by: TEXT_OR_NULL,
});

const CAUSE = z.strictObject({
  cause: TEXT,
  status: z.enum(["new", "open", "acknowledged", "snoozed", "returned"]),
  jobs: COUNTED,
  types: TYPES,
  jobId: TEXT,
  error: FAULT,
});

const ERROR_RATE = z.strictObject({
  type: TEXT,
  errorRate: z.number().min(0).max(1),
  errors: COUNT,
  runs: COUNT,
  withinMs: COUNT,
});

const SILENT = z.strictObject({
  worker: TEXT,
  host: TEXT,
  pid: COUNT,
  heartbeatAgoMs: AGE,
  running: COUNT,
});

const NOT_TAKEN = z.strictObject({
  type: TEXT,
  missing: z.enum(["type", "lane", "tenant"]),
  name: TEXT,
  waiting: COUNTED,
  didYouMean: TEXT_OR_NULL,
});

const SCHEDULE = z.strictObject({
  schedule: TEXT,
  type: TEXT,
  problem: z.enum([
    "late",
    "undeclared",
    "missed",
    "refused",
    "over_quota",
    "intake_closed",
    "failed",
  ]),
  slotAt: MOMENT_OR_NULL,
  jobId: TEXT_OR_NULL,
});

const OPERATION = z.strictObject({
  operation: TEXT,
  action: TEXT,
  problem: z.enum(["failed", "no_runner"]),
  error: z.strictObject({ name: TEXT, message: TEXT }).nullable(),
});

/** The compiler refuses a rule without a schema. */
const DETAILS: Readonly<Record<AttentionRule, z.ZodObject>> = {
  breaker: BREAKER,
  failure_cause: CAUSE,
  waiting: z.strictObject({ lane: TEXT, ageMs: AGE, targetMs: COUNT, waiting: COUNTED }),
  error_rate: ERROR_RATE,
  worker_silent: SILENT,
  not_taken: NOT_TAKEN,
  no_worker: z.strictObject({ waiting: COUNTED, quiet: COUNT }),
  schedule: SCHEDULE,
  pause: z.strictObject({
    ...CLOSED,
    kind: z.enum([...CLOSED_KINDS, "service"]),
    isOfEngine: z.boolean(),
  }),
  intake: z.strictObject({ ...CLOSED, kind: z.enum(CLOSED_KINDS) }),
  dead_letters: z.strictObject({ deadLetters: COUNTED, types: TYPES, oldestAt: MOMENT }),
  operation: OPERATION,
};

const FINDING = z
  .union(Object.entries(DETAILS).map(([rule, details]) => findingOf(rule, details)))
  .openapi("Finding", { description: "`rule` says which `details` there are." });

function findingOf(rule: string, details: z.ZodObject): z.ZodObject {
  return z.strictObject({
    rule: z.literal(rule),
    level: z.enum(["broken", "look"]),
    subject: z.strictObject({ kind: TEXT, name: TEXT }),
    sentence: TEXT,
    details,
    since: MOMENT_OR_NULL,
    screen: TEXT.openapi({ description: "The screen of the dashboard that shows more." }),
    action: z.strictObject({
      operation: TEXT_OR_NULL.openapi({ description: "The operation of this API that helps." }),
      command: TEXT,
    }),
  });
}

const CHECK = z
  .strictObject({
    rule: TEXT,
    about: TEXT,
    status: z.enum(["well", "found", "unread"]),
    findings: COUNT,
    isPartial: z.boolean(),
  })
  .openapi("AttentionCheck");

export const ATTENTION: z.ZodType = z
  .strictObject({ checkedAt: MOMENT, findings: z.array(FINDING), checked: z.array(CHECK) })
  .openapi("Attention");
