/** `GET /api/v1/jobs` and `GET /api/v1/jobs/{id}`: list jobs, and read or await one. */
import { z } from "@hono/zod-openapi";
import { MillraceError } from "../../core/errors.ts";
import { STATES } from "../../core/job.ts";
import type { JobFilter } from "../../api/client.ts";
import { matches, withTag } from "../etag.ts";
import { defined, DURATION_TEXT, lengthOf, momentOf, MOMENT_TEXT } from "../moments.ts";
import { SEE, SEE_JOB } from "../identity/identity.ts";
import type { AppParts, HttpMill } from "../parts.ts";
import { invalid } from "../problem.ts";
import { Redactor } from "../redaction.ts";
import { route, type Route } from "../route.ts";
import { AFTER, ID_PARAMS, LIMIT, NAME, WITH_TOTAL } from "../schemas/common.ts";
import { JOB, JOB_PAGE } from "../schemas/jobs.ts";
import { redactedJob } from "../views.ts";
import { STREAM_QUERY, WAIT_MS_MAX, WAIT_QUERY, waitOf } from "../waiting.ts";

const PATH = "/api/v1/jobs";
const TAGS_MAX = 20;
const PATHS_MAX = 5;
const PART = z.string().min(1).max(500);

const FILTERS = z.strictObject({
  state: z
    .array(z.enum([...STATES, "pending"]))
    .max(STATES.length + 1)
    .optional()
    .openapi({ description: "May be repeated. `pending` means scheduled or queued." }),
  type: NAME.optional(),
  tenant: NAME.optional(),
  category: NAME.optional(),
  lane: NAME.optional(),
  correlation_id: NAME.optional(),
  parent_id: NAME.optional(),
  tag: z
    .array(
      z
        .string()
        .max(1_000)
        .regex(/^[^:]+:.+$/, { error: "a name and a value such as area:north" }),
    )
    .max(TAGS_MAX)
    .optional()
    .openapi({ description: "May be repeated: area:north. A job must have all of these tags." }),
  created_after: MOMENT_TEXT.optional(),
  created_before: MOMENT_TEXT.optional(),
  running_longer_than: DURATION_TEXT.optional().openapi({
    description: "Running jobs whose present run started longer ago, such as 30m.",
  }),
  error: PART.optional().openapi({
    description: "Part of the message, the name or the class of the last error.",
  }),
  payload: z
    .array(
      z
        .string()
        .max(1_000)
        .regex(/^[^:]+:/, { error: "a path and a value such as user.id:42" }),
    )
    .max(PATHS_MAX)
    .optional()
    .openapi({
      description:
        "May be repeated: user.id:42. The scalar at the path of the payload, written as text. " +
        "A path that redaction hides from the caller is refused with 403.",
    }),
  text: PART.optional().openapi({
    description: "Part of the JSON text of the payload, of at least 3 characters. For managers.",
  }),
  count: WITH_TOTAL,
  after: AFTER.optional(),
  limit: LIMIT,
});

export function jobRoutes(parts: AppParts): readonly Route[] {
  return [listRoute(parts), getRoute(parts)];
}

function listRoute({ redaction, clock }: AppParts): Route {
  const form = {
    method: "get",
    path: PATH,
    name: "listJobs",
    summary: "Lists the jobs that match all filters, newest first, in pages.",
    access: SEE,
    query: FILTERS,
    answers: {
      200: {
        description:
          "One page. `next` and the Link header lead to the next page, also from a page that is " +
          "not full.",
        schema: JOB_PAGE,
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ query, mill, identity, url, base }) => {
    const redactor = new Redactor(redaction, identity);
    const filter = filterOf(query, clock.now());
    redactor.insistOnSearch(filter);
    const page = await mill.jobs.list(filter);
    const total = query.count === "true" ? { total: await totalOf(mill, filter) } : {};
    const jobs = page.jobs.map((job) => redactedJob(job, redactor));
    const headers = page.next === null ? {} : { link: linkTo(base, url, page.next) };
    return Response.json({ ...page, jobs, ...total }, { headers });
  });
}

function totalOf(mill: HttpMill, { after: _after, limit: _limit, ...filter }: JobFilter) {
  return mill.jobs.count(filter);
}

/** The filter of the library. */
function filterOf(query: z.output<typeof FILTERS>, now: number): JobFilter {
  const { tag, correlation_id, parent_id, created_after, created_before, ...others } = query;
  const { running_longer_than, payload, count: _count, ...rest } = others;
  return {
    ...defined(rest),
    ...defined({
      correlationId: correlation_id,
      parentId: parent_id,
      createdAfter: momentOf("created_after", created_after, now),
      createdBefore: momentOf("created_before", created_before, now),
      runningLongerThan: lengthOf("running_longer_than", running_longer_than),
      tags: tag === undefined ? undefined : pairsOf("tag", tag),
      payload: payload === undefined ? undefined : pairsOf("payload", payload),
    }),
  };
}

/** A value may contain colons, a name may not. Each name has one value. */
function pairsOf(
  parameter: "tag" | "payload",
  pairs: readonly string[],
): Readonly<Record<string, string>> {
  const entries = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf(":");
    const name = pair.slice(0, at);
    if (entries.has(name)) throw invalid({ path: parameter, message: `names ${name} twice` });
    entries.set(name, pair.slice(at + 1));
  }
  return Object.fromEntries(entries);
}

/** The Link header of a page that has a next one. */
function linkTo(base: string, url: URL, next: string): string {
  const query = new URLSearchParams(url.searchParams);
  query.set("after", next);
  return `<${base}${url.pathname}?${query.toString()}>; rel="next"`;
}

function getRoute({ redaction }: AppParts): Route {
  const form = {
    method: "get",
    path: `${PATH}/{id}`,
    name: "getJob",
    summary: "Returns one job, at once or when it has ended.",
    access: SEE_JOB,
    params: ID_PARAMS,
    query: z.strictObject({ ...WAIT_QUERY.shape, ...STREAM_QUERY.shape }),
    headers: z.object({
      prefer: z.string().optional().openapi({ description: "wait=30 is as the query wait=30s." }),
      "if-none-match": z.string().optional(),
    }),
    answers: {
      200: { description: "The job, final or not.", schema: JOB },
      304: { description: "The job is as If-None-Match says." },
    },
    problems: [404],
    waitsMsMax: WAIT_MS_MAX,
  } as const;
  return route(form, async ({ params: { id }, query, headers, mill, identity, signal }) => {
    const limitMs = waitOf(query.wait, headers.prefer);
    if (limitMs > 0) await untilOver(mill, id, limitMs, signal);
    const redactor = new Redactor(redaction, identity);
    const body = JSON.stringify(redactedJob(await mill.jobs.get(id), redactor));
    return matches(headers["if-none-match"], body) ?? withTag(body);
  });
}

/** Resolves at the end of the job, or after `timeout`. */
async function untilOver(
  mill: HttpMill,
  id: string,
  timeout: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    await mill.wait({ id: (await mill.jobs.get(id)).id, type: "" }, { timeout, signal });
  } catch (error) {
    const isTimeOut = error instanceof MillraceError && error.code === "WAIT_TIMED_OUT";
    if (!signal.aborted && !isTimeOut) throw error;
  }
}
