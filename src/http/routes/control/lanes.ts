/** The lanes: slots, jobs that run and wait, and pauses. */
import { z } from "@hono/zod-openapi";
import { SEE_INSTANCE } from "../../identity/identity.ts";
import { route, type Route } from "../../route.ts";
import {
  COUNT,
  COUNTED,
  MOMENT,
  MOMENT_OR_NULL,
  TEXT,
  TEXT_OR_NULL,
} from "../../schemas/common.ts";

const LANE = z
  .strictObject({
    lane: TEXT,
    slots: COUNT,
    running: COUNT,
    waiting: COUNTED,
    held: COUNTED,
    oldestAgeMs: z.number().min(0).nullable(),
    targetMs: COUNT,
    pause: z
      .strictObject({
        reason: TEXT,
        pausedBy: TEXT_OR_NULL,
        pausedAt: MOMENT,
        until: MOMENT_OR_NULL,
      })
      .nullable(),
    fair: z.boolean(),
    workers: COUNT,
  })
  .openapi("Lane");

export function laneRoutes(): readonly Route[] {
  const list = {
    method: "get",
    path: "/api/v1/lanes",
    name: "listLanes",
    summary: "Lists the lanes, with their slots, waiting jobs and pauses.",
    access: SEE_INSTANCE,
    answers: {
      200: { description: "The lanes.", schema: z.strictObject({ lanes: z.array(LANE) }) },
    },
    problems: [],
  } as const;
  return [route(list, async ({ mill }) => Response.json({ lanes: await mill.lanes.list() }))];
}
