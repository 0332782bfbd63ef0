/** The schemas of what belongs to one job: progress, units, runs, log lines. */
import { z } from "@hono/zod-openapi";
import { ANYTHING, COUNT, MOMENT, MOMENT_OR_NULL, TEXT, TEXT_OR_NULL } from "./common.ts";
import { FAULT, JOB, STATE } from "./jobs.ts";

const PERCENT = z.number().min(0).max(100);

export const UNIT_COUNTS: z.ZodType = z
  .strictObject({
    total: COUNT,
    planned: COUNT,
    running: COUNT,
    completed: COUNT,
    failed: COUNT,
  })
  .openapi("UnitCounts");

const PHASE = z
  .strictObject({
    name: TEXT,
    state: z.enum(["pending", "running", "completed", "failed", "cancelled"]),
    percent: PERCENT,
    result: ANYTHING,
    startedAt: MOMENT_OR_NULL,
    finishedAt: MOMENT_OR_NULL,
    units: UNIT_COUNTS,
  })
  .openapi("Phase");

export const PROGRESS: z.ZodType = z
  .strictObject({
    state: STATE,
    percent: PERCENT,
    phase: TEXT_OR_NULL,
    phasePercent: PERCENT,
    data: ANYTHING,
    at: MOMENT_OR_NULL,
    phases: z.array(PHASE),
    units: UNIT_COUNTS,
  })
  .openapi("Progress");

export const UNIT: z.ZodType = z
  .strictObject({
    key: TEXT,
    phase: TEXT_OR_NULL,
    state: z.enum(["planned", "running", "completed", "failed"]),
    result: ANYTHING,
    error: FAULT.nullable(),
    at: MOMENT,
  })
  .openapi("Unit");

export const ATTEMPT: z.ZodType = z
  .strictObject({
    number: COUNT,
    attempts: COUNT,
    crashes: COUNT,
    outcome: TEXT,
    fence: COUNT.nullable(),
    worker: TEXT_OR_NULL,
    startedAt: MOMENT_OR_NULL,
    finishedAt: MOMENT,
    error: FAULT.nullable(),
    nextRunAt: MOMENT_OR_NULL,
  })
  .openapi("Attempt");

export const LOG_LINE: z.ZodType = z
  .strictObject({
    line: COUNT,
    attempt: COUNT,
    at: MOMENT,
    level: z.enum(["debug", "info", "warn", "error"]),
    message: TEXT,
    fields: z.record(z.string(), z.unknown()).nullable(),
  })
  .openapi("LogLine");

const LINKS = z.strictObject({ ids: z.array(TEXT), more: z.boolean() });

export const DETAILS: z.ZodType = z
  .strictObject({
    job: JOB,
    progress: PROGRESS,
    failedUnits: z.array(UNIT),
    attempts: z.array(ATTEMPT),
    worker: z
      .strictObject({
        id: TEXT,
        host: TEXT,
        pid: COUNT,
        isAlive: z.boolean(),
        heartbeatAgoMs: z.number(),
      })
      .nullable(),
    waitsFor: LINKS,
    awaitedBy: LINKS,
    children: z.strictObject({ count: COUNT, atLeast: z.boolean() }),
  })
  .openapi("JobDetails");
