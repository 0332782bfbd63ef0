/** `GET /api/v1/jobs/{id}/…`: what belongs to one job. */
import { z } from "@hono/zod-openapi";
import { wait } from "../../core/clock.ts";
import { SEE, SEE_JOB } from "../identity/identity.ts";
import type { AppParts, HttpMill } from "../parts.ts";
import { Redactor } from "../redaction.ts";
import { route, type Route } from "../route.ts";
import {
  COUNT,
  ID,
  ID_PARAMS,
  KEY,
  LIMIT,
  MOMENT,
  NAME,
  TEXT,
  TEXT_OR_NULL,
} from "../schemas/common.ts";
import { EXPLANATION } from "../schemas/explanation.ts";
import { ATTEMPT, DETAILS, LOG_LINE, PROGRESS, UNIT } from "../schemas/job-parts.ts";
import {
  redactedAttempt,
  redactedDetails,
  redactedExplanation,
  redactedLine,
  redactedProgress,
  redactedText,
  redactedUnit,
} from "../views.ts";
import { STREAM_QUERY, WAIT_MS_MAX, WAIT_QUERY, waitOf } from "../waiting.ts";

const PATH = "/api/v1/jobs/{id}";
const PROBLEMS = [404] as const;
/** How often a request that waits for log lines looks for them. */
const LINES_POLL_MS = 250;

export function jobPartRoutes(parts: AppParts): readonly Route[] {
  return [
    detailsRoute(parts),
    textsRoute(parts),
    progressRoute(parts),
    unitsRoute(parts),
    attemptsRoute(parts),
    logsRoute(parts),
    explainRoute(parts),
    holdersRoute(),
    idsRoute(),
  ];
}

function detailsRoute({ redaction }: AppParts): Route {
  const form = {
    method: "get",
    path: `${PATH}/details`,
    name: "getJobDetails",
    summary: "Returns a job with its progress, runs, failed units, worker and linked jobs.",
    access: SEE,
    params: ID_PARAMS,
    answers: { 200: { description: "All facts about the job.", schema: DETAILS } },
    problems: PROBLEMS,
  } as const;
  return route(form, async ({ params: { id }, mill, identity }) => {
    const details = await mill.jobs.details(id);
    return Response.json(redactedDetails(details, new Redactor(redaction, identity)));
  });
}

function textsRoute({ redaction }: AppParts): Route {
  const form = {
    method: "get",
    path: `${PATH}/texts`,
    name: "getJobTexts",
    summary: "Returns payload and result as the JSON texts that are stored, numbers exact.",
    access: SEE,
    params: ID_PARAMS,
    answers: {
      200: {
        description:
          "The texts, without what the caller may not read. A damaged text is null for all but " +
          "managers.",
        schema: z.strictObject({ payload: TEXT_OR_NULL, result: TEXT_OR_NULL }),
      },
    },
    problems: PROBLEMS,
  } as const;
  return route(form, async ({ params: { id }, mill, identity }) => {
    const redactor = new Redactor(redaction, identity);
    const { payload, result } = await mill.jobs.texts(id);
    const shown = {
      payload: redactedText(payload, redactor),
      result: redactedText(result, redactor),
    };
    return Response.json(shown);
  });
}

function progressRoute({ redaction }: AppParts): Route {
  const form = {
    method: "get",
    path: `${PATH}/progress`,
    name: "getJobProgress",
    summary: "Returns how far a job has come: percent, phases and units.",
    access: SEE_JOB,
    params: ID_PARAMS,
    query: STREAM_QUERY,
    answers: { 200: { description: "The progress.", schema: PROGRESS } },
    problems: PROBLEMS,
  } as const;
  return route(form, async ({ params: { id }, mill, identity }) => {
    const progress = await mill.jobs.progress(id);
    return Response.json(redactedProgress(progress, new Redactor(redaction, identity)));
  });
}

function unitsRoute({ redaction }: AppParts): Route {
  const form = {
    method: "get",
    path: `${PATH}/units`,
    name: "listUnits",
    summary: "Lists the units of a job, in the order of their phases and as they were given.",
    access: SEE,
    params: ID_PARAMS,
    query: z.strictObject({
      phase: NAME.optional(),
      state: z.enum(["planned", "running", "completed", "failed"]).optional(),
      after: z.string().min(1).max(4_000).optional(),
      limit: LIMIT,
    }),
    answers: {
      200: {
        description: "One page; `next` leads to the next one.",
        schema: z.strictObject({ units: z.array(UNIT), next: TEXT_OR_NULL }),
      },
    },
    problems: PROBLEMS,
  } as const;
  return route(form, async ({ params: { id }, query, mill, identity }) => {
    const redactor = new Redactor(redaction, identity);
    const { phase, state, after, limit } = query;
    const { units, next } = await mill.jobs.units(id, {
      limit,
      ...(phase === undefined ? {} : { phase }),
      ...(state === undefined ? {} : { state }),
      ...(after === undefined ? {} : { after }),
    });
    return Response.json({ units: units.map((unit) => redactedUnit(unit, redactor)), next });
  });
}

function attemptsRoute({ redaction }: AppParts): Route {
  const form = {
    method: "get",
    path: `${PATH}/attempts`,
    name: "listAttempts",
    summary: "Lists every run of a job that has ended, oldest first.",
    access: SEE,
    params: ID_PARAMS,
    answers: {
      200: {
        description: "The runs.",
        schema: z.strictObject({ attempts: z.array(ATTEMPT) }),
      },
    },
    problems: PROBLEMS,
  } as const;
  return route(form, async ({ params: { id }, mill, identity }) => {
    const redactor = new Redactor(redaction, identity);
    const attempts = await mill.jobs.attempts(id);
    return Response.json({ attempts: attempts.map((run) => redactedAttempt(run, redactor)) });
  });
}

function logsRoute(parts: AppParts): Route {
  const form = {
    method: "get",
    path: `${PATH}/logs`,
    name: "listLogLines",
    summary: "Lists log lines of a job, oldest first; with `wait`, answers when there is one.",
    access: SEE,
    params: ID_PARAMS,
    query: z.strictObject({
      after: COUNT.optional().openapi({
        description: "Only lines after the one of this number. Without it, the newest lines.",
      }),
      limit: LIMIT,
      ...WAIT_QUERY.shape,
    }),
    answers: {
      200: {
        description:
          "One page. `next` is the `after` of the next page, and null if the page has all lines " +
          "so far: later lines follow after the number of the last one.",
        schema: z.strictObject({ lines: z.array(LOG_LINE), next: COUNT.nullable() }),
      },
    },
    problems: PROBLEMS,
    waitsMsMax: WAIT_MS_MAX,
  } as const;
  return route(form, async ({ params: { id }, query, mill, identity, signal }) => {
    const { after, limit } = query;
    const page = { limit, ...(after === undefined ? {} : { after }) };
    const read = (): ReturnType<HttpMill["jobs"]["logs"]> => mill.jobs.logs(id, page);
    const deadline = parts.clock.monotonic() + waitOf(query.wait, undefined);
    let found = await read();
    while (found.lines.length === 0 && parts.clock.monotonic() < deadline && !signal.aborted) {
      await wait(parts.clock, LINES_POLL_MS);
      found = await read();
    }
    const redactor = new Redactor(parts.redaction, identity);
    const lines = found.lines.map((line) => redactedLine(line, redactor));
    return Response.json({ lines, next: found.next });
  });
}

function explainRoute({ redaction }: AppParts): Route {
  const form = {
    method: "get",
    path: `${PATH}/explain`,
    name: "explainJob",
    summary: "Explains why a job does not run, and what to do.",
    access: SEE,
    params: ID_PARAMS,
    answers: { 200: { description: "One sentence and its data.", schema: EXPLANATION } },
    problems: PROBLEMS,
  } as const;
  return route(form, async ({ params: { id }, mill, identity }) => {
    const explanation = await mill.jobs.explain(id);
    return Response.json(redactedExplanation(explanation, new Redactor(redaction, identity)));
  });
}

function holdersRoute(): Route {
  const holder = z.strictObject({ id: TEXT, phase: TEXT_OR_NULL, at: MOMENT });
  const form = {
    method: "get",
    path: "/api/v1/unit-holders",
    name: "listUnitHolders",
    summary: "Lists the running jobs that work on a unit of this key now.",
    access: SEE,
    query: z.strictObject({ key: KEY.openapi({ description: "The key of the unit." }) }),
    answers: {
      200: { description: "The jobs.", schema: z.strictObject({ holders: z.array(holder) }) },
    },
    problems: [],
  } as const;
  return route(form, async ({ query: { key }, mill }) =>
    Response.json({ holders: await mill.jobs.holders(key) }),
  );
}

/** For command lines, on which people write the first letters of an id. */
function idsRoute(): Route {
  const form = {
    method: "get",
    path: "/api/v1/job-ids",
    name: "findJobIds",
    summary: "Finds the ids of jobs and dead letters that begin with these letters.",
    access: SEE,
    query: z.strictObject({ prefix: ID, limit: LIMIT }),
    answers: { 200: { description: "The ids.", schema: z.strictObject({ ids: z.array(TEXT) }) } },
    problems: [],
  } as const;
  return route(form, async ({ query: { prefix, limit }, mill }) =>
    Response.json({ ids: await mill.jobs.findIds(prefix, limit) }),
  );
}
