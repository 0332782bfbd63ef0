/** `/api/v1/jobs`: lists jobs, waits for a job, and enqueues a job. */
import { MillraceError } from "../../core/errors.ts";
import { waitMs } from "../../core/duration.ts";
import { STATES } from "../../core/job.ts";
import type { JobFilter, Millrace } from "../../api/client.ts";
import { defineJob, typed } from "../../api/define.ts";
import type { AnyContract } from "../../api/definition.ts";
import type { EnqueueOptions } from "../../api/enqueue.ts";
import { declaredType } from "../../jobs/declared-type.ts";
import { invalid } from "../problem.ts";
import type { RouteRequest, Route } from "../route.ts";
import { mismatchOf, type JsonSchema } from "../schema.ts";
import { ENQUEUED, ENQUEUE_BODY, JOB, KEY, whole } from "../schemas.ts";

export interface JobRouteParts {
  readonly mill: Pick<Millrace, "enqueue" | "wait" | "jobs">;
  /** The jobs whose schema and settings are known. */
  readonly contracts: () => readonly AnyContract[];
  /**
   * The job file. Types that `contracts` does not have are refused; without a file they are
   * enqueued with the defaults.
   */
  readonly jobFile: string | null;
  /** Aborts when the server stops, so that waiting requests are answered at once. */
  readonly closing: AbortSignal;
}

const PATH = "/api/v1/jobs";
const WAIT_MS_MAX = 60_000;
/** Lower than in the library, because a page of jobs with large payloads must fit into memory. */
const LIMIT_MAX = 200;
const LIMIT_DEFAULT = 50;
const TAGS_MAX = 20;

const NAME: JsonSchema = { type: "string", minLength: 1, maxLength: 200 };

const FILTERS: Readonly<Record<string, JsonSchema>> = {
  state: {
    description: "May be repeated. `pending` means scheduled or queued.",
    type: "array",
    items: { type: "string", enum: [...STATES, "pending"] },
    maxItems: STATES.length + 1,
  },
  type: NAME,
  tenant: NAME,
  category: NAME,
  correlation_id: NAME,
  tag: {
    description: "May be repeated. A job must have all of these tags.",
    type: "array",
    items: {
      description: "a name and a value such as area:north",
      type: "string",
      pattern: "^[^:]+:.+$",
    },
    maxItems: TAGS_MAX,
  },
  after: { description: "The `next` of the previous page.", type: "string", maxLength: 100 },
  limit: { type: "integer", minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
};

const WAIT: JsonSchema = {
  description: "a duration of at most 60s, such as 30s",
  type: "string",
  pattern: "^\\d{1,5}(\\.\\d+)?(ms|s|m)$",
};

const KEY_HEADER = "Idempotency-Key";

export function jobRoutes(parts: JobRouteParts): readonly Route[] {
  return [
    {
      method: "get",
      path: PATH,
      name: "listJobs",
      summary: "Lists the jobs that match all filters, newest first, in pages.",
      inQuery: FILTERS,
      answers: {
        200: {
          description:
            "One page. `next` and the Link header lead to the next page, also from a page that " +
            "is not full.",
          schema: whole({
            jobs: { type: "array", items: JOB },
            next: { type: ["string", "null"] },
            cutShort: {
              description: "True when the search reached its maximum before the page was full.",
              type: "boolean",
            },
          }),
        },
      },
      problems: [400, 401],
      answer: (request) => listJobs(parts, request),
    },
    {
      method: "post",
      path: PATH,
      name: "enqueueJob",
      summary: "Enqueues a job. The job is durable when the response is sent.",
      inHeaders: {
        [KEY_HEADER]: {
          ...KEY,
          description: "With or without quotes. A repeated key returns the same job.",
        },
      },
      body: ENQUEUE_BODY,
      answers: {
        200: { description: "The job already exists.", schema: ENQUEUED },
        201: { description: "The job was created. Location is its path.", schema: ENQUEUED },
      },
      problems: [400, 401, 403, 409, 413, 415, 422, 501],
      answer: (request) => enqueueJob(parts, request),
    },
    {
      method: "get",
      path: `${PATH}/{id}`,
      name: "getJob",
      summary: "Returns one job, at once or when it has ended.",
      inPath: { id: { description: "26 letters, or a UUID.", type: "string" } },
      inQuery: { wait: WAIT },
      answers: { 200: { description: "The job, final or not.", schema: JOB } },
      problems: [400, 401, 404],
      answer: (request) => getJob(parts, request),
    },
  ];
}

async function listJobs(
  { mill }: JobRouteParts,
  { inQuery, url }: RouteRequest,
): Promise<Response> {
  const page = await mill.jobs.list(filterOf(inQuery));
  return Response.json(page, page.next === null ? {} : { headers: linkTo(url, page.next) });
}

/** The filter from a query that was checked against {@link FILTERS}. */
function filterOf(query: RouteRequest["inQuery"]): JobFilter {
  const { tag, correlation_id: correlationId, limit = LIMIT_DEFAULT, ...rest } = query;
  return {
    ...rest,
    limit: Number(limit),
    ...(typeof correlationId === "string" ? { correlationId } : {}),
    ...(Array.isArray(tag) ? { tags: tagsOf(tag) } : {}),
  };
}

/** A value may contain colons, a name may not. A job has one value for each name. */
function tagsOf(tags: readonly string[]): Readonly<Record<string, string>> {
  const entries = new Map<string, string>();
  for (const tag of tags) {
    const at = tag.indexOf(":");
    const name = tag.slice(0, at);
    if (entries.has(name)) throw invalid({ path: "tag", message: `names ${name} twice` });
    entries.set(name, tag.slice(at + 1));
  }
  return Object.fromEntries(entries);
}

function linkTo(url: URL, next: string): { link: string } {
  const query = new URLSearchParams(url.searchParams);
  query.set("after", next);
  return { link: `<${url.pathname}?${query.toString()}>; rel="next"` };
}

async function getJob(parts: JobRouteParts, request: RouteRequest): Promise<Response> {
  const id = request.inPath["id"] ?? "";
  const limitMs = waitOf(request.inQuery["wait"]);
  if (limitMs > 0) await untilOver(parts, id, limitMs, request.signal);
  return Response.json(await parts.mill.jobs.get(id));
}

function waitOf(text: unknown): number {
  const ms = text === undefined ? 0 : (waitMs(text, 0) ?? 0);
  if (ms <= WAIT_MS_MAX) return ms;
  throw invalid({ path: "wait", message: `must be ${WAIT.description}, not ${String(text)}` });
}

/** Resolves at the end of the job, or after `timeout`. */
async function untilOver(
  { mill, closing }: JobRouteParts,
  id: string,
  timeout: number,
  leaving: AbortSignal,
): Promise<void> {
  const signal = AbortSignal.any([leaving, closing]);
  try {
    await mill.wait({ id: (await mill.jobs.get(id)).id, type: "" }, { timeout, signal });
  } catch (error) {
    if (!signal.aborted && !isCode(error, "WAIT_TIMED_OUT")) throw error;
  }
}

async function enqueueJob(
  parts: JobRouteParts,
  { body, headers }: RouteRequest,
): Promise<Response> {
  const { type, payload } = body;
  const contract = contractOf(parts, String(type), payload);
  const options = optionsOf(body["options"], keyOf(headers.get(KEY_HEADER)));
  const enqueued = await enqueue(parts, contract, payload, options);
  const location = `${PATH}/${enqueued.id}`;
  if (enqueued.created) return Response.json(enqueued, { status: 201, headers: { location } });
  return Response.json(enqueued, { headers: { location, "idempotency-replayed": "true" } });
}

/** The known contract of a type; without a job file, one that accepts any payload. */
function contractOf(parts: JobRouteParts, type: string, payload: unknown): AnyContract {
  const { contracts, jobFile } = parts;
  if (jobFile !== null) return declaredType(type, contracts(), jobFile);
  const known = contracts().find((contract) => contract.type === type);
  if (known !== undefined) return known;
  return payload === undefined ? defineJob({ type }) : defineJob({ type, payload: typed<any>() });
}

/** The key in a header: a structured field's string, or the text without quotes. */
function keyOf(header: string | null): string | null {
  if (header === null) return null;
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header)?.[1];
  const key = quoted?.replaceAll(/\\(.)/g, "$1") ?? header;
  const isHalfQuoted = quoted === undefined && header.includes('"');
  if (isHalfQuoted) throw invalid({ path: KEY_HEADER, message: "has a quote that does not end" });
  const mismatch = mismatchOf(KEY, key, KEY_HEADER);
  if (mismatch !== null) throw invalid(mismatch);
  return key;
}

/** The options of a body, in which `after` is a list of ids. */
type BodyOptions = Omit<EnqueueOptions, "after"> & { readonly after?: readonly string[] };

function optionsOf(options: unknown, idempotencyKey: string | null): EnqueueOptions {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The schema has checked it.
  const { after, ...plain } = (options ?? {}) as BodyOptions;
  const given: EnqueueOptions =
    after === undefined ? plain : { ...plain, after: after.map((id) => ({ id, type: "" })) };
  if (idempotencyKey === null) return given;
  if (given.idempotencyKey === undefined) return { ...given, idempotencyKey };
  throw invalid({ path: KEY_HEADER, message: "is given as a header and as an option: choose one" });
}

async function enqueue(
  { mill }: JobRouteParts,
  contract: AnyContract,
  payload: unknown,
  options: EnqueueOptions,
): ReturnType<Millrace["enqueue"]> {
  try {
    return await mill.enqueue(contract, payload, options);
  } catch (error) {
    // In the body, an option of the library is one level deeper.
    const option = error instanceof MillraceError ? error.details["option"] : undefined;
    if (!(error instanceof MillraceError) || typeof option !== "string") throw error;
    const details = { path: `options.${option}` };
    const { code, message, hint } = error;
    throw new MillraceError(code, message, { cause: error, details, hint });
  }
}

function isCode(error: unknown, code: MillraceError["code"]): boolean {
  return error instanceof MillraceError && error.code === code;
}
