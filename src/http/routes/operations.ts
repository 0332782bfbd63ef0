/** Pauses, workers and statistics: what an operator sees and does about the whole fleet. */
import { z } from "@hono/zod-openapi";
import type { ClosedIntake, IntakeTarget } from "../../api/control/intake.ts";
import type { Pause, PauseTarget } from "../../api/client.ts";
import { MillraceError } from "../../core/errors.ts";
import { actedBy } from "../acted-by.ts";
import { OPERATE, OPERATE_INSTANCE, SEE, SEE_INSTANCE } from "../identity/identity.ts";
import { route, type Route } from "../route.ts";
import {
  COUNT,
  ID_PARAMS,
  MOMENT,
  MOMENT_OR_NULL,
  NAME,
  NEEDED_REASON,
  REASON,
  TEXT,
  TEXT_OR_NULL,
} from "../schemas/common.ts";

const KINDS = ["lane", "type", "tenant"] as const;
const GROUPS = [...KINDS, "category"] as const;
const PAUSED_KINDS = [...KINDS, "service", "installation"] as const;
const PAUSE_PARAMS = z.strictObject({ kind: z.enum(PAUSED_KINDS), name: NAME });

const PAUSE = z
  .strictObject({
    kind: z.enum(PAUSED_KINDS),
    name: TEXT,
    reason: TEXT,
    pausedBy: TEXT_OR_NULL,
    pausedAt: MOMENT,
    until: MOMENT_OR_NULL,
    queued: COUNT,
    atLeast: z.boolean(),
    shared: COUNT,
    sharedAtLeast: z.boolean(),
  })
  .openapi("Pause");

const WORKER = z
  .strictObject({
    id: TEXT,
    host: TEXT,
    pid: COUNT,
    version: TEXT,
    appVersion: TEXT_OR_NULL,
    joinedAt: MOMENT,
    isAlive: z.boolean(),
    heartbeatAgoMs: z.number(),
    isQuiet: z.boolean(),
    isStopping: z.boolean(),
    types: z.array(TEXT),
    lanes: z.array(TEXT),
    tenant: TEXT_OR_NULL,
    slots: COUNT,
    running: COUNT,
    memoryBytes: COUNT.nullable(),
    loopLagMs: COUNT.nullable(),
    takenBy: TEXT_OR_NULL.openapi({ description: "The role of a session in plain SQL." }),
  })
  .openapi("Worker");

const FIGURES = {
  scheduled: COUNT,
  queued: COUNT,
  held: COUNT,
  running: COUNT,
  failed: COUNT,
};

const STATS = z
  .strictObject({
    ...FIGURES,
    retrying: COUNT.openapi({ description: "Of the scheduled jobs, those that have run before." }),
    oldestQueuedMs: z.number().nullable(),
    atLeast: z.array(TEXT).openapi({ description: "The figures that stopped at a maximum." }),
  })
  .openapi("Stats");

const GROUPED = z
  .strictObject({
    by: z.enum(GROUPS),
    groups: z.array(z.strictObject({ name: TEXT, ...FIGURES })),
    atLeast: z.array(TEXT),
    cutShort: z.boolean(),
  })
  .openapi("GroupedStats");

export function operationRoutes(): readonly Route[] {
  return [...pauseRoutes(), ...workerRoutes(), ...statsRoutes()];
}

function pauseRoutes(): readonly Route[] {
  const path = "/api/v1/pauses/{kind}/{name}";
  const list = {
    method: "get",
    path: "/api/v1/pauses",
    name: "listPauses",
    summary: "Lists the pauses, with their reasons and the number of jobs behind each.",
    access: SEE,
    answers: {
      200: { description: "All pauses.", schema: z.strictObject({ pauses: z.array(PAUSE) }) },
    },
    problems: [],
  } as const;
  const pause = {
    method: "put",
    path,
    name: "pause",
    summary:
      "Pauses a lane, a type, a tenant, a service or the installation (`all`): none of its jobs " +
      "starts until it is resumed.",
    access: OPERATE,
    params: PAUSE_PARAMS,
    body: z.strictObject({ reason: NEEDED_REASON }),
    answers: { 204: { description: "Paused." } },
    problems: [],
  } as const;
  const resume = {
    method: "delete",
    path,
    name: "resume",
    summary: "Ends a pause, and says how many jobs may run now.",
    access: OPERATE,
    params: PAUSE_PARAMS,
    query: REASON,
    answers: {
      200: {
        description: "Whether there was a pause.",
        schema: z.strictObject({ wasPaused: z.boolean(), queued: COUNT, atLeast: z.boolean() }),
      },
    },
    problems: [],
  } as const;
  return [
    route(list, async ({ mill }) => Response.json({ pauses: await mill.pauses() })),
    route(pause, async ({ params, body: { reason }, mill, identity: { actor } }) => {
      await mill.pause(targetOf(params), reason, { actor });
      return new Response(null, { status: 204 });
    }),
    route(resume, async ({ params, query: { reason }, mill, identity }) =>
      Response.json(await mill.resume(targetOf(params), actedBy(identity, reason))),
    ),
  ];
}

export function targetOf(params: {
  readonly kind: ClosedIntake["kind"];
  readonly name: string;
}): IntakeTarget;
export function targetOf(params: {
  readonly kind: Pause["kind"];
  readonly name: string;
}): PauseTarget;
export function targetOf({
  kind,
  name,
}: {
  readonly kind: Pause["kind"];
  readonly name: string;
}): PauseTarget {
  switch (kind) {
    case "lane":
      return { lane: name };
    case "type":
      return { type: name };
    case "tenant":
      return { tenant: name };
    case "service":
      return { service: name };
    case "installation":
      if (name === "all") return { installation: true };
      throw new MillraceError("OPTION_INVALID", "the name of the installation is all");
  }
}

function workerRoutes(): readonly Route[] {
  const list = {
    method: "get",
    path: "/api/v1/workers",
    name: "listWorkers",
    summary: "Lists the workers, longest known first.",
    access: SEE_INSTANCE,
    answers: {
      200: { description: "The workers.", schema: z.strictObject({ workers: z.array(WORKER) }) },
    },
    problems: [],
  } as const;
  const change = (
    verb: "quiet" | "resume" | "stop",
    summary: string,
    problems: readonly (404 | 409)[] = [404],
  ): Route =>
    route(
      {
        method: "post",
        path: `/api/v1/workers/{id}/${verb}`,
        name: `${verb}Worker`,
        summary,
        access: OPERATE_INSTANCE,
        params: ID_PARAMS,
        body: REASON,
        answers: { 204: { description: "The worker is told with its next heartbeat." } },
        problems,
      },
      async ({ params: { id }, body: { reason }, mill, identity }) => {
        await mill.workers[verb](id, actedBy(identity, reason));
        return new Response(null, { status: 204 });
      },
    );
  return [
    route(list, async ({ mill }) => Response.json({ workers: await mill.workers.list() })),
    change("quiet", "Makes a worker claim no more jobs. Its running jobs continue."),
    change("resume", "Lets a quiet worker claim jobs again.", [404, 409]),
    change("stop", "Stops a worker gracefully."),
  ];
}

function statsRoutes(): readonly Route[] {
  return [statsRoute(), groupedStatsRoute()];
}

function statsRoute(): Route {
  const form = {
    method: "get",
    path: "/api/v1/stats",
    name: "getStats",
    summary: "Counts jobs by what they wait for. Each count has a maximum.",
    access: SEE,
    answers: { 200: { description: "The counts.", schema: STATS } },
    problems: [],
  } as const;
  return route(form, async ({ mill }) => Response.json(await mill.jobs.stats()));
}

function groupedStatsRoute(): Route {
  const form = {
    method: "get",
    path: "/api/v1/stats/{by}",
    name: "getStatsBy",
    summary: "Counts jobs by type, lane, tenant or category, the largest groups first.",
    access: SEE,
    params: z.strictObject({ by: z.enum(GROUPS) }),
    answers: { 200: { description: "The counts.", schema: GROUPED } },
    problems: [],
  } as const;
  return route(form, async ({ params: { by }, mill }) =>
    Response.json(await mill.jobs.statsBy(by)),
  );
}
