/**
 * `GET /api/v1/metrics/minutes`: how long jobs wait and run, how many end, and how.
 * `GET /api/v1/metrics/deploys`: when other versions of the application came.
 */
import { z } from "@hono/zod-openapi";
import { SEE_INSTANCE } from "../identity/identity.ts";
import { defined, DURATION_TEXT, lengthOf, momentOf, MOMENT_TEXT } from "../moments.ts";
import type { AppParts } from "../parts.ts";
import { route, type Route } from "../route.ts";
import { COUNT, MOMENT, NAME, TEXT } from "../schemas/common.ts";

const QUERY = z.strictObject({
  from: MOMENT_TEXT.optional(),
  to: MOMENT_TEXT.optional(),
  step: DURATION_TEXT.optional(),
  type: NAME.optional(),
  lane: NAME.optional(),
});

const MS = z.number().min(0).nullable();
const QUANTILES = z
  .strictObject({ mean: MS, p50: MS, p95: MS, p99: MS })
  .openapi("Quantiles", { description: "Milliseconds; null without runs." });

const FIGURES = {
  runs: COUNT,
  outcomes: z.strictObject({
    succeeded: COUNT,
    failed: COUNT,
    timed_out: COUNT,
    crashed: COUNT,
    cancelled: COUNT,
    interrupted: COUNT,
    snoozed: COUNT,
  }),
  perSecond: z.number().min(0),
  errorRate: z.number().min(0).max(1).nullable(),
  wait: QUANTILES,
  run: QUANTILES,
};

const METRICS = z
  .strictObject({
    fromAt: MOMENT,
    toAt: MOMENT,
    total: z.strictObject(FIGURES),
    groups: z.array(z.strictObject({ at: MOMENT, type: TEXT, lane: TEXT, ...FIGURES })),
    steps: z
      .array(z.strictObject({ at: MOMENT, ...FIGURES }))
      .openapi({ description: "By step, over all types and lanes; empty without a step." }),
    cutShort: z.boolean(),
  })
  .openapi("RunMetrics");

export function metricsRoutes(parts: AppParts): readonly Route[] {
  return [minutesRoute(parts), deploysRoute(parts)];
}

function deploysRoute({ clock }: AppParts): Route {
  const form = {
    method: "get",
    path: "/api/v1/metrics/deploys",
    name: "listDeploys",
    summary: "Lists when workers of another version of the application began to register.",
    access: SEE_INSTANCE,
    query: z.strictObject({ from: MOMENT_TEXT.optional(), to: MOMENT_TEXT.optional() }),
    answers: {
      200: {
        description: "Newest first, at most 1,000.",
        schema: z.strictObject({
          deploys: z.array(z.strictObject({ appVersion: TEXT, at: MOMENT }).openapi("Deploy")),
        }),
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ query: { from, to }, mill }) => {
    const now = clock.now();
    const stretch = { from: momentOf("from", from, now), to: momentOf("to", to, now) ?? now };
    return Response.json({ deploys: await mill.metrics.deploys(defined(stretch)) });
  });
}

function minutesRoute({ clock }: AppParts): Route {
  const form = {
    method: "get",
    path: "/api/v1/metrics/minutes",
    name: "getRunMetrics",
    summary:
      "Waits, run times, throughput and error rate of the runs that ended in a stretch of time.",
    access: SEE_INSTANCE,
    query: QUERY,
    answers: {
      200: {
        description: "For the whole stretch, and by step, type and lane.",
        schema: METRICS,
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ query: { from, to, step, type, lane }, mill }) => {
    const now = clock.now();
    const given = defined({
      from: momentOf("from", from, now),
      // Both ends by one clock.
      to: momentOf("to", to, now) ?? now,
      step: lengthOf("step", step),
      type,
      lane,
    });
    return Response.json(await mill.metrics.read(given));
  });
}
