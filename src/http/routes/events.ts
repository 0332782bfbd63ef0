/** The feed over HTTP: as server-sent events, and in pages. */
import { z } from "@hono/zod-openapi";
import { EVENT_NAMES } from "../../api/events.ts";
import type { StreamMessage, StreamOptions } from "../../api/stream.ts";
import { SEE, SEE_JOB } from "../identity/identity.ts";
import type { AppParts } from "../parts.ts";
import { Redactor } from "../redaction.ts";
import { route, type Route, type RouteRequest } from "../route.ts";
import { ID_PARAMS, LIMIT, MOMENT, NAME, TEXT, TEXT_OR_NULL } from "../schemas/common.ts";
import { messageData } from "../streams/stream-views.ts";
import { STREAM_QUERY, WAIT_MS_MAX, WAIT_QUERY, waitOf } from "../waiting.ts";

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

/** An event, or with the type `reset` the sign that the feed does not reach back to `after`. */
const MESSAGE = z
  .strictObject({
    id: TEXT,
    type: z.enum(["event", "reset"]),
    at: MOMENT.optional(),
    event: z.enum(EVENT_NAMES).optional(),
    job: z.strictObject({ type: TEXT, tenant: TEXT }).nullable().optional(),
    data: z.looseObject({ id: TEXT }).optional(),
  })
  .openapi("FeedMessage");

export function eventRoutes(parts: AppParts): readonly Route[] {
  return [streamRoute(parts), jobStreamRoute(parts), changesRoute(parts), pageRoute(parts)];
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
    problems: [],
  } as const;
  return route(form, async (request) => streamOf(parts, request, filterOf(request.query)));
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
    problems: [404],
  } as const;
  return route(form, async (request) => {
    const { id: job } = await request.mill.jobs.get(request.params.id);
    return streamOf(parts, request, { job });
  });
}

/** For pages that read again what they show when something has changed. */
function changesRoute(parts: AppParts): Route {
  const form = {
    method: "get",
    path: "/api/v1/changes",
    name: "streamChanges",
    summary: "Streams at most once a second how many events of each kind there were.",
    access: SEE,
    answers: {
      200: {
        description: "Messages `changes` with `events`, the counts by event, and `ping`.",
        schema: TEXT,
        type: "text/event-stream",
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ identity: { tenant }, isStillValid, signal }) =>
    parts.streams.respond({
      open: () => parts.changes.open(tenant),
      dataOf: ({ events }) => ({ events }),
      isAllowed: isStillValid,
      signal,
    }),
  );
}

interface StreamQuery {
  readonly after?: string | undefined;
  readonly snapshot?: boolean | undefined;
}

type StreamRequest = Pick<
  RouteRequest<unknown, StreamQuery, z.output<typeof LAST_ID>, unknown>,
  "query" | "headers" | "mill" | "identity" | "isStillValid" | "signal"
>;

/** The response that streams the chosen events, from the place that the request names. */
function streamOf(parts: AppParts, request: StreamRequest, chosen: StreamOptions): Response {
  const { query, headers, mill, identity, isStillValid, signal } = request;
  const { after, snapshot } = query;
  const options = { ...chosen, ...placeOf(after, headers["last-event-id"]) };
  const redactor = new Redactor(parts.redaction, identity);
  return parts.streams.respond({
    open: () => mill.stream(snapshot === undefined ? options : { ...options, snapshot }),
    dataOf: (message) => messageData(message, redactor),
    isAllowed: isStillValid,
    signal,
  });
}

/** For programs that ask instead of listening. */
function pageRoute(parts: AppParts): Route {
  const form = {
    method: "get",
    path: "/api/v1/feed",
    name: "listEvents",
    summary: "Lists events behind a place in the feed; with `wait`, answers when there is one.",
    access: SEE,
    query: z.strictObject({ ...FILTERS, after: AFTER_ID, limit: LIMIT, ...WAIT_QUERY.shape }),
    answers: {
      200: {
        description:
          "Messages in order. `next` is the `after` of the next request; null: the server stops " +
          "before it knew the place.",
        schema: z.strictObject({ messages: z.array(MESSAGE), next: TEXT_OR_NULL }),
      },
    },
    problems: [],
    waitsMsMax: WAIT_MS_MAX,
  } as const;
  return route(form, async ({ query, mill, identity, signal }) => {
    const filter = { ...filterOf(query), snapshot: false };
    const redactor = new Redactor(parts.redaction, identity);
    const read = (after: string | undefined, ping: number, limit: number): Promise<FeedPage> =>
      pageOf(mill.stream({ ...filter, ...placeOf(after, undefined), ping }), limit, signal);
    const waitMs = Math.max(PAGE_MS_MIN, waitOf(query.wait, undefined));
    const first = await read(query.after, waitMs, 1);
    const rest =
      first.messages.length === 0
        ? { messages: [], next: null }
        : await read(first.next ?? undefined, PAGE_MS_MIN, query.limit - 1);
    const messages = [...first.messages, ...rest.messages].map((message) => {
      const { id, type } = message;
      return { id, type, ...messageData(message, redactor) };
    });
    return Response.json({ messages, next: rest.next ?? first.next ?? query.after ?? null });
  });
}

interface FeedPage {
  readonly messages: readonly StreamMessage[];
  /** The place behind the page; null: the stream ended before it said where it is. */
  readonly next: string | null;
}

/** Reads until there are `limit` messages, or until the stream says that there are no more. */
async function pageOf(
  stream: ReadableStream<StreamMessage>,
  limit: number,
  signal: AbortSignal,
): Promise<FeedPage> {
  const reader = stream.getReader();
  const messages: StreamMessage[] = [];
  let next: string | null = null;
  const leave = (): void => void reader.cancel();
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  try {
    while (messages.length < limit) {
      const { value, done } = await reader.read();
      if (done) break;
      next = value.id;
      if (value.type === "ping") break;
      messages.push(value);
    }
    return { messages, next };
  } finally {
    signal.removeEventListener("abort", leave);
    await reader.cancel();
  }
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
