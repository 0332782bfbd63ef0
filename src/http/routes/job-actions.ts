/** `POST /api/v1/jobs/{id}/…`: what an operator does to one job. */
import { z } from "@hono/zod-openapi";
import type { JobView } from "../../api/client.ts";
import { actedBy } from "../acted-by.ts";
import { OPERATE } from "../identity/identity.ts";
import type { AppParts } from "../parts.ts";
import { Redactor } from "../redaction.ts";
import { route, type Route } from "../route.ts";
import { DURATION_TEXT, lengthOf } from "../moments.ts";
import { COUNT, ID_PARAMS, MOMENT, REASON, REMARK } from "../schemas/common.ts";
import { ENQUEUED, JOB } from "../schemas/jobs.ts";
import type { Identity } from "../identity/identity.ts";
import { redactedJob } from "../views.ts";

const PATH = "/api/v1/jobs/{id}";
const PROBLEMS = [404, 409] as const;

export function jobActionRoutes(parts: AppParts): readonly Route[] {
  return [
    cancelRoute(parts),
    retryRoute(),
    failRoute(parts),
    releaseRoute(parts),
    priorityRoute(parts),
    rescheduleRoute(parts),
  ];
}

function cancelRoute(parts: AppParts): Route {
  const form = {
    method: "post",
    path: `${PATH}/cancel`,
    name: "cancelJob",
    summary: "Cancels a waiting job at once, and asks the worker of a running job to stop.",
    access: OPERATE,
    params: ID_PARAMS,
    body: REASON,
    answers: { 200: { description: "The job.", schema: JOB } },
    problems: PROBLEMS,
  } as const;
  return route(form, async ({ params: { id }, body: { reason }, mill, identity }) =>
    answerJob(parts, identity, await mill.jobs.cancel(id, reason, { actor: identity.actor })),
  );
}

function retryRoute(): Route {
  const form = {
    method: "post",
    path: `${PATH}/retry`,
    name: "retryJob",
    summary: "Runs a waiting job now, or enqueues a linked successor of a final one.",
    access: OPERATE,
    params: ID_PARAMS,
    body: z.strictObject({
      restart: z
        .boolean()
        .optional()
        .openapi({ description: "True: the successor repeats what has completed." }),
      reason: REMARK.optional(),
    }),
    answers: { 200: { description: "The job that runs.", schema: ENQUEUED } },
    problems: PROBLEMS,
  } as const;
  return route(form, async ({ params: { id }, body: { restart, reason }, mill, identity }) => {
    const options = restart === undefined ? {} : { restart };
    return Response.json(await mill.jobs.retry(id, { ...options, ...actedBy(identity, reason) }));
  });
}

function failRoute(parts: AppParts): Route {
  const form = {
    method: "post",
    path: `${PATH}/fail`,
    name: "failJob",
    summary: "Ends the run or the wait of a job as failed, in place of its worker.",
    access: OPERATE,
    params: ID_PARAMS,
    body: z.strictObject({
      message: REMARK,
      retry: z.boolean().optional().openapi({ description: "True: the job may run again." }),
    }),
    answers: { 200: { description: "The job.", schema: JOB } },
    problems: PROBLEMS,
  } as const;
  return route(form, async ({ params: { id }, body: { message, retry }, mill, identity }) => {
    const { actor } = identity;
    const options = retry === undefined ? { actor } : { retry, actor };
    return answerJob(parts, identity, await mill.jobs.fail(id, message, options));
  });
}

/** As on the command line, a run whose worker is alive needs `force`. */
function releaseRoute(parts: AppParts): Route {
  const form = {
    method: "post",
    path: `${PATH}/release`,
    name: "releaseJob",
    summary: "Returns a running job to the queue, uncharged; its worker is told to stop the run.",
    access: OPERATE,
    params: ID_PARAMS,
    body: z.strictObject({
      force: z
        .boolean()
        .default(false)
        .openapi({ description: "True: also a run whose worker is alive." }),
      reason: REMARK.optional(),
    }),
    answers: { 200: { description: "The job.", schema: JOB } },
    problems: PROBLEMS,
  } as const;
  return route(form, async ({ params: { id }, body: { force, reason }, mill, identity }) => {
    const options = { force, ...actedBy(identity, reason) };
    return answerJob(parts, identity, await mill.jobs.release(id, options));
  });
}

function priorityRoute(parts: AppParts): Route {
  const form = {
    method: "post",
    path: `${PATH}/priority`,
    name: "setJobPriority",
    summary: "Gives a waiting job another priority, for its next start.",
    access: OPERATE,
    params: ID_PARAMS,
    body: z.strictObject({
      priority: z.union([
        z.int().min(0).max(1_000_000_000),
        z.enum(["critical", "high", "normal", "low"]),
      ]),
      reason: REMARK.optional(),
    }),
    answers: { 200: { description: "The job.", schema: JOB } },
    problems: PROBLEMS,
  } as const;
  return route(form, async ({ params: { id }, body: { priority, reason }, mill, identity }) => {
    const job = await mill.jobs.setPriority(id, priority, actedBy(identity, reason));
    return answerJob(parts, identity, job);
  });
}

function rescheduleRoute(parts: AppParts): Route {
  const form = {
    method: "post",
    path: `${PATH}/reschedule`,
    name: "rescheduleJob",
    summary: "Makes a waiting job due at another time.",
    access: OPERATE,
    params: ID_PARAMS,
    body: z.union([
      z.strictObject({ runAt: MOMENT, reason: REMARK.optional() }),
      z.strictObject({ delay: z.union([COUNT, DURATION_TEXT]), reason: REMARK.optional() }),
    ]),
    answers: { 200: { description: "The job.", schema: JOB } },
    problems: PROBLEMS,
  } as const;
  return route(form, async ({ params: { id }, body, mill, identity }) => {
    const due = "runAt" in body ? { runAt: body.runAt } : { delay: delayOf(body.delay) };
    const job = await mill.jobs.reschedule(id, due, actedBy(identity, body.reason));
    return answerJob(parts, identity, job);
  });
}

function delayOf(delay: number | string): number {
  return typeof delay === "number" ? delay : (lengthOf("delay", delay) ?? 0);
}

function answerJob({ redaction }: AppParts, identity: Identity, job: JobView): Response {
  return Response.json(redactedJob(job, new Redactor(redaction, identity)));
}
