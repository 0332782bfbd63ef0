/** Schedules: what enqueues jobs by the clock, and what came of its ticks. */
import { z } from "@hono/zod-openapi";
import { schedule, type Timing } from "../../api/schedule.ts";
import type { ScheduleView } from "../../api/schedule.ts";
import { actedBy } from "../acted-by.ts";
import { MANAGE, OPERATE, SEE, type Identity } from "../identity/identity.ts";
import type { AppParts } from "../parts.ts";
import { invalid, RequestRefusal } from "../problem.ts";
import { route, type Route } from "../route.ts";
import {
  AFTER,
  ANYTHING,
  COUNT,
  KEY,
  LIMIT,
  MOMENT,
  MOMENT_OR_NULL,
  NAME,
  NEEDED_REASON,
  REASON,
  TEXT,
  TEXT_OR_NULL,
} from "../schemas/common.ts";
import { ENQUEUED } from "../schemas/jobs.ts";
import { MillraceError } from "../../core/errors.ts";
import { contractOf, keyOf, KEY_HEADERS } from "./enqueue.ts";

const PATH = "/api/v1/schedules";
const NAME_PARAMS = z.strictObject({ name: NAME });
const MISSED = z.union([
  z.enum(["skip", "once"]),
  z.strictObject({ all: z.int().min(1).max(1_000) }),
]);
const OVERLAP = z.enum(["skip", "queue", "replace"]);
const DURATION = z.union([z.string().min(1).max(20), COUNT]);
const INSTANT = z.union([z.string().min(1).max(40), COUNT]);

const TIMING = {
  cron: z.string().min(1).max(200).openapi({ description: "Such as `0 3 * * *`." }),
  timeZone: NAME.optional().openapi({ description: "An IANA name. Default: UTC." }),
  missed: MISSED.optional(),
  overlap: OVERLAP.optional(),
  jitter: DURATION.optional(),
  start: INSTANT.optional(),
  end: INSTANT.optional(),
};

const NEW_SCHEDULE = z
  .strictObject({
    name: NAME,
    when: z.strictObject(TIMING),
    type: NAME,
    payload: ANYTHING.optional(),
    options: z
      .strictObject({
        tenant: NAME.optional(),
        priority: z.union([z.enum(["critical", "high", "normal", "low"]), COUNT]).optional(),
        maxAttempts: z.int().min(1).optional(),
        concurrencyKey: KEY.optional(),
        tags: z.record(z.string(), KEY).optional(),
      })
      .optional(),
    reason: NEEDED_REASON,
  })
  .openapi("NewSchedule");

const SCHEDULE = z
  .strictObject({
    name: TEXT,
    owner: z.enum(["code", "operator"]),
    description: TEXT.openapi({ description: "When it is due, in English." }),
    cron: TEXT,
    timeZone: TEXT,
    missed: MISSED,
    overlap: OVERLAP,
    jitterMs: COUNT,
    start: MOMENT_OR_NULL,
    end: MOMENT_OR_NULL,
    type: TEXT,
    tenant: TEXT,
    lane: TEXT,
    nextRuns: z.array(MOMENT),
    lastTick: MOMENT_OR_NULL,
    lastJobId: TEXT_OR_NULL,
    pausedAt: MOMENT_OR_NULL,
    pausedBy: TEXT_OR_NULL,
    pauseReason: TEXT_OR_NULL,
    isDeclared: z.boolean(),
    createdBy: TEXT_OR_NULL,
    createdAt: MOMENT,
    updatedAt: MOMENT,
  })
  .openapi("Schedule");

const TICK = z
  .strictObject({
    slot: MOMENT,
    since: MOMENT_OR_NULL,
    outcome: z.enum([
      "made",
      "skipped",
      "replaced",
      "missed",
      "duplicate",
      "refused",
      "intake_closed",
      "over_quota",
      "run_now",
    ]),
    jobId: TEXT_OR_NULL,
    at: MOMENT,
  })
  .openapi("Tick");

const ONE = { description: "The schedule.", schema: SCHEDULE };

export function scheduleRoutes(parts: AppParts): readonly Route[] {
  return [...readingRoutes(), createRoute(parts), ...changingRoutes(), ...pauseRoutes()];
}

function readingRoutes(): readonly Route[] {
  const list = {
    method: "get",
    path: PATH,
    name: "listSchedules",
    summary: "Lists schedules by name, with their next five runs.",
    access: SEE,
    query: z.strictObject({ tenant: NAME.optional(), after: AFTER.optional(), limit: LIMIT }),
    answers: {
      200: {
        description: "A page of schedules.",
        schema: z.strictObject({ schedules: z.array(SCHEDULE), next: TEXT_OR_NULL }),
      },
    },
    problems: [],
  } as const;
  const get = {
    method: "get",
    path: `${PATH}/{name}`,
    name: "getSchedule",
    summary: "Returns one schedule.",
    access: SEE,
    params: NAME_PARAMS,
    answers: { 200: ONE },
    problems: [404],
  } as const;
  const ticks = {
    method: "get",
    path: `${PATH}/{name}/ticks`,
    name: "listTicks",
    summary: "Lists what came of the newest ticks of a schedule, newest first.",
    access: SEE,
    params: NAME_PARAMS,
    query: z.strictObject({ before: MOMENT.optional(), limit: LIMIT }),
    answers: {
      200: { description: "The ticks.", schema: z.strictObject({ ticks: z.array(TICK) }) },
    },
    problems: [404],
  } as const;
  return [
    route(list, async ({ query, mill }) => {
      const { tenant, after, limit } = query;
      const filter: any = { limit, ...(tenant === undefined ? {} : { tenant }) };
      const page = after === undefined ? filter : { ...filter, after };
      const schedules = await mill.schedules.list(page);
      const next = schedules.length === limit ? (schedules.at(-1)?.name ?? null) : null;
      return Response.json({ schedules, next });
    }),
    route(get, async ({ params: { name }, mill }) => Response.json(await mill.schedules.get(name))),
    route(ticks, async ({ params: { name }, query: { before, limit }, mill }) => {
      const page = before === undefined ? { limit } : { limit, before: new Date(before) };
      return Response.json({ ticks: await mill.schedules.history(name, page) });
    }),
  ];
}

function createRoute(parts: AppParts): Route {
  const form = {
    method: "post",
    path: PATH,
    name: "createSchedule",
    summary: "Stores a schedule that no code declares.",
    access: MANAGE,
    body: NEW_SCHEDULE,
    answers: { 201: ONE },
    problems: [409, 422],
  } as const;
  return route(form, async ({ body, mill, identity }) => {
    const { name, when, payload, options, reason } = body;
    const contract = await contractOf(parts, body, (known) => mill.types.get(known));
    const made: any = { ...options, ...tenantOf(identity, options?.tenant) };
    const stored = await asRequest(() =>
      mill.schedules.create(schedule(name, timingOf(when), contract, payload, made), {
        actor: identity.actor,
        reason,
      }),
    );
    return Response.json(stored, { status: 201 });
  });
}

function changingRoutes(): readonly Route[] {
  const update = {
    method: "put",
    path: `${PATH}/{name}`,
    name: "updateSchedule",
    summary: "Changes the time of a schedule. What is not named stays.",
    access: MANAGE,
    params: NAME_PARAMS,
    body: z.strictObject({
      ...TIMING,
      cron: TIMING.cron.optional(),
      start: TIMING.start.nullable().openapi({ description: "Null removes the start." }),
      end: TIMING.end.nullable().openapi({ description: "Null removes the end." }),
      reason: NEEDED_REASON,
    }),
    answers: { 200: ONE },
    problems: [404, 409],
  } as const;
  const remove = {
    method: "delete",
    path: `${PATH}/{name}`,
    name: "removeSchedule",
    summary: "Removes a schedule that no living worker declares.",
    access: MANAGE,
    params: NAME_PARAMS,
    query: z.strictObject({ reason: NEEDED_REASON }),
    answers: { 204: { description: "Removed." } },
    problems: [404, 409],
  } as const;
  const run = {
    method: "post",
    path: `${PATH}/{name}/run`,
    name: "runSchedule",
    summary: "Enqueues the job of a schedule now, beside its ticks.",
    access: OPERATE,
    params: NAME_PARAMS,
    headers: KEY_HEADERS,
    body: REASON,
    answers: { 200: { description: "The job.", schema: ENQUEUED } },
    problems: [404, 422, 503],
  } as const;
  return [
    route(update, async ({ params: { name }, body, mill, identity: { actor } }) => {
      const { reason, ...when }: any = body;
      const changed = await asRequest(() => mill.schedules.update(name, when, { actor, reason }));
      return Response.json(changed);
    }),
    route(remove, async ({ params: { name }, query: { reason }, mill, identity: { actor } }) => {
      await mill.schedules.remove(name, { actor, reason });
      return new Response(null, { status: 204 });
    }),
    route(run, async ({ params: { name }, headers, body: { reason }, mill, identity }) => {
      const key = keyOf(headers["idempotency-key"] ?? null);
      const by = actedBy(identity, reason);
      const job = await mill.schedules.runNow(
        name,
        key === null ? by : { ...by, idempotencyKey: key },
      );
      const isReplay = key !== null && !job.created;
      return Response.json(job, { headers: isReplay ? { "idempotency-replayed": "true" } : {} });
    }),
  ];
}

function pauseRoutes(): readonly Route[] {
  const pause = {
    method: "put",
    path: `${PATH}/{name}/pause`,
    name: "pauseSchedule",
    summary: "Pauses a schedule. A pause survives deploys.",
    access: OPERATE,
    params: NAME_PARAMS,
    body: z.strictObject({ reason: NEEDED_REASON }),
    answers: { 204: { description: "Paused." } },
    problems: [404],
  } as const;
  const resume = {
    method: "delete",
    path: `${PATH}/{name}/pause`,
    name: "resumeSchedule",
    summary: "Ends the pause of a schedule. The ticks of the pause are left out.",
    access: OPERATE,
    params: NAME_PARAMS,
    query: REASON,
    answers: {
      200: {
        description: "Whether there was a pause.",
        schema: z.strictObject({ wasPaused: z.boolean() }),
      },
    },
    problems: [404],
  } as const;
  return [
    route(pause, async ({ params: { name }, body: { reason }, mill, identity: { actor } }) => {
      await mill.schedules.pause(name, reason, { actor });
      return new Response(null, { status: 204 });
    }),
    route(resume, async ({ params: { name }, query: { reason }, mill, identity }) =>
      Response.json(await mill.schedules.resume(name, actedBy(identity, reason))),
    ),
  ];
}

/** The texts of durations and instants are checked by the library. */
function timingOf(given: object): Timing {
  const when: any = given;
  return when;
}

function tenantOf({ tenant }: Identity, given: string | undefined): { tenant?: string } {
  if (tenant === null) return {};
  if (given === undefined || given === tenant) return { tenant };
  throw new RequestRefusal("FORBIDDEN", `The credential is for the tenant ${tenant} alone.`);
}

/** A rule that a schedule breaks is a mistake in the body. */
async function asRequest(work: () => Promise<ScheduleView>): Promise<ScheduleView> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MillraceError) || error.code !== "DEFINITION_INVALID") throw error;
    throw invalid({ path: String(error.details["place"]), message: error.message });
  }
}
