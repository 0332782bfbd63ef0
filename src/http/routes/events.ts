/** The feed over HTTP: as server-sent events, and in pages. */
import { z } from "@hono/zod-openapi";
import { EVENT_NAMES } from "../../api/events.ts";
import type { StreamMessage, StreamOptions } from "../../api/stream.ts";
import { identify } from "../identity/identify.ts";
import { SEE, SEE_JOB, type Identity } from "../identity/identity.ts";
import type { AppParts } from "../parts.ts";
import { RequestRefusal } from "../problem.ts";
import { Redactor } from "../redaction.ts";
import { route, type Route, type RouteRequest } from "../route.ts";
import { ID_PARAMS, LIMIT, NAME, TEXT } from "../schemas/common.ts";
import { SSE_HEADERS } from "../sse.ts";
import { messageData } from "../stream-views.ts";
import { STREAM_QUERY, WAIT_QUERY, waitOf } from "../waiting.ts";

const EVENTS_MAX = EVENT_NAMES.length;
const MESSAGE_ID = /^\d{1,15}(\.\d{1,9}\.\d{1,9})?$/;
/** How long a page without `wait` waits for the first event. */
const PAGE_MS_MIN = 1;

const FILTERS = {
  event: z
    .array(z.enum(EVENT_NAMES))
    .max(EVENTS_MAX)
    .optional()
    .openapi({ description: "May be repeated. Default: all events." }),
  type: NAME.optional(),
  tenant: NAME.optional(),
  correlation_id: NAME.optional(),
};

const AFTER_ID = z
  .string()
  .regex(MESSAGE_ID, { error: "the id of a message" })
  .optional()
  .openapi({ description: "The id of the last message: the stream continues behind it." });

const SNAPSHOT = z
  .boolean()
  .optional()
  .openapi({ description: "Whether the current state comes first. Default: true." });

const LAST_ID = z.object({
  "last-event-id": z
    .string()
    .optional()
    .openapi({ description: "Sent by browsers that connect again; as `after`." }),
});

const STREAM_ANSWER = {
  200: {
    description:
      "Messages `snapshot`, `reset`, `ping`, or named after an event. `data` is JSON; `id` is " +
      "the place in the feed.",
    schema: TEXT,
    type: "text/event-stream",
  },
} as const;

export function eventRoutes(parts: AppParts): readonly Route[] {
  return [streamRoute(parts), jobStreamRoute(parts), pageRoute(parts)];
}

function streamRoute(parts: AppParts): Route {
  const form = {
    method: "get",
    path: "/api/v1/events",
    name: "streamEvents",
    summary: "Streams events as server-sent events: a snapshot first, then changes.",
    access: SEE,
    query: z.strictObject({ ...FILTERS, after: AFTER_ID, snapshot: SNAPSHOT }),
    headers: LAST_ID,
    answers: STREAM_ANSWER,
    problems: [400, 401, 403, 421, 503],
    isLong: true,
  } as const;
  return route(form, async (call) => {
    const { query, headers } = call;
    const place = placeOf(query.after, headers["last-event-id"]);
    return streamed(parts, call, { ...filterOf(query), ...place });
  });
}

function jobStreamRoute(parts: AppParts): Route {
  const form = {
    method: "get",
    path: "/api/v1/jobs/{id}/events",
    name: "streamJobEvents",
    summary: "Streams the events of one job: the job first, then changes.",
    access: SEE_JOB,
    params: ID_PARAMS,
    query: z.strictObject({ after: AFTER_ID, snapshot: SNAPSHOT, ...STREAM_QUERY.shape }),
    headers: LAST_ID,
    answers: STREAM_ANSWER,
    problems: [400, 401, 403, 404, 421, 503],
    isLong: true,
  } as const;
  return route(form, async (call) => {
    const { params, query, headers, mill } = call;
    const { id: job } = await mill.jobs.get(params.id);
    return streamed(parts, call, { job, ...placeOf(query.after, headers["last-event-id"]) });
  });
}

type StreamCall = Pick<
  RouteRequest<unknown, { readonly snapshot?: boolean | undefined }, unknown, unknown>,
  "query" | "mill" | "identity" | "signal" | "request"
>;

function streamed(parts: AppParts, call: StreamCall, options: StreamOptions): Response {
  const { query, mill, identity, signal, request } = call;
  // Nobody would read the body of the answer to HEAD, and the stream would stay open.
  if (request.method === "HEAD") return new Response(null, { headers: SSE_HEADERS });
  const { snapshot } = query;
  const redactor = new Redactor(parts.redaction, identity);
  return parts.streams.respond({
    open: () => mill.stream(snapshot === undefined ? options : { ...options, snapshot }),
    dataOf: (message) => messageData(message, redactor),
    isAllowed: () => isStillAllowed(parts, request, identity),
    signal,
  });
}

/** A stream may outlive its credential. The login of a host application is asked only once. */
async function isStillAllowed(
  parts: AppParts,
  request: Request,
  { tokenId }: Identity,
): Promise<boolean> {
  if (tokenId === null) return true;
  try {
    await identify(request, parts.identify, true);
    return true;
  } catch (error) {
    if (error instanceof RequestRefusal) return false;
    throw error;
  }
}

/** For programs that ask instead of listening. */
function pageRoute(parts: AppParts): Route {
  const event = z.looseObject({ id: TEXT, type: TEXT });
  const form = {
    method: "get",
    path: "/api/v1/feed",
    name: "listEvents",
    summary: "Lists events behind a place in the feed; with `wait`, answers when there is one.",
    access: SEE,
    query: z.strictObject({ ...FILTERS, after: AFTER_ID, limit: LIMIT, ...WAIT_QUERY.shape }),
    answers: {
      200: {
        description: "Messages in order. `next` is the `after` of the next request.",
        schema: z.strictObject({ messages: z.array(event), next: TEXT }),
      },
    },
    problems: [400, 401, 403, 421, 503],
    isLong: true,
  } as const;
  return route(form, async ({ query, mill, identity, signal }) => {
    const ping = Math.max(PAGE_MS_MIN, waitOf(query.wait, undefined));
    const options = { ...filterOf(query), ...placeOf(query.after, undefined), ping };
    const reader = mill.stream({ ...options, snapshot: false }).getReader();
    const redactor = new Redactor(parts.redaction, identity);
    try {
      const { messages, last } = await pageOf(reader, query.limit, redactor, signal);
      const next = last ?? query.after;
      if (next !== undefined) return Response.json({ messages, next });
      throw new RequestRefusal("STOPPING", "The server stops, and has read no event yet.");
    } finally {
      await reader.cancel();
    }
  });
}

/** Reads until the page is full, or until nothing more is there. */
async function pageOf(
  reader: ReadableStreamDefaultReader<StreamMessage>,
  limit: number,
  redactor: Redactor,
  signal: AbortSignal,
): Promise<{ messages: object[]; last: string | null }> {
  const messages: object[] = [];
  let last: string | null = null;
  const leave = (): void => void reader.cancel();
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  try {
    while (messages.length < limit) {
      const { value, done } = await reader.read();
      if (done) break;
      last = value.id;
      if (value.type === "ping") break;
      const { id, type } = value;
      messages.push({ id, type, ...messageData(value, redactor) });
    }
  } finally {
    signal.removeEventListener("abort", leave);
  }
  return { messages, last };
}

type Filters = {
  readonly [Name in keyof typeof FILTERS]?: z.output<(typeof FILTERS)[Name]>;
};

function filterOf({ event, type, tenant, correlation_id }: Filters): StreamOptions {
  return {
    ...(event === undefined ? {} : { events: event }),
    ...(type === undefined ? {} : { type }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(correlation_id === undefined ? {} : { correlationId: correlation_id }),
  };
}

/** The header of a browser that connects again is newer than the query of its first request. */
function placeOf(
  after: string | undefined,
  lastEventId: string | undefined,
): Pick<StreamOptions, "after"> {
  const last = lastEventId !== undefined && MESSAGE_ID.test(lastEventId) ? lastEventId : after;
  return last === undefined ? {} : { after: last };
}
