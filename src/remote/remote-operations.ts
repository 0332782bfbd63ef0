/** `mill.operations` of a server. */
import type {
  Operation,
  OperationItems,
  OperationItemView,
  OperationPreview,
  OperationRequest,
  Operations,
} from "../api/control/operations.ts";
import { wait } from "../core/clock.ts";
import { durationMs, formatDuration, instantMs, type Instant } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { systemClock } from "../lib/system.ts";
import { withDates } from "./dates.ts";
import { readPages } from "./pages.ts";
import type { ServerCalls } from "./server-calls.ts";

const PATH = "/api/v1/operations";
const POLL_MS = 500;

export function remoteOperations(calls: ServerCalls): Operations {
  const path = (id: string, part = ""): string => `${PATH}/${encodeURIComponent(id)}${part}`;
  const get = async (id: string): Promise<Operation> =>
    withDates(await calls.json<Operation>(path(id)));
  return {
    async preview(request) {
      const call = { method: "POST", body: bodyOf(request) } as const;
      return withDates(await calls.json<OperationPreview>(`${PATH}/preview`, call));
    },
    // The server knows the actor.
    async start(request, { actor: _actor, ...options }) {
      const call = { method: "POST", body: { ...bodyOf(request), ...options } } as const;
      return withDates(await calls.json<Operation>(PATH, call));
    },
    get,
    async list({ limit, after, ...filter } = {}) {
      const { entries } = await readPages({ limit, after }, async (page) => {
        const found = await calls.json<any>(PATH, { query: { ...filter, ...page } });
        return { entries: withDates<Operation[]>(found.operations), next: found.next };
      });
      return entries;
    },
    async items(id, { limit, after, ...filter } = {}) {
      const { entries, next } = await readPages<OperationItemView, number>(
        { limit, after },
        async (page) => {
          const query = { ...filter, ...page };
          const found = await calls.json<OperationItems>(path(id, "/items"), { query });
          return { entries: found.items, next: found.next };
        },
      );
      return { items: entries, next };
    },
    stop: async (id) =>
      withDates(await calls.json<Operation>(path(id, "/stop"), { method: "POST" })),
    async wait(id, { signal, timeout } = {}) {
      const limitMs = timeout === undefined ? Infinity : durationMs(timeout, "timeout");
      const until = systemClock.monotonic() + limitMs;
      for (;;) {
        signal?.throwIfAborted();
        const operation = await get(id);
        if (operation.finishedAt !== null) return operation;
        if (systemClock.monotonic() >= until) throw timedOut(operation, limitMs);
        await wait(systemClock, POLL_MS);
      }
    },
  };
}

function timedOut({ id, status }: Operation, limitMs: number): MillraceError {
  const message = `operation ${id} is still ${status} after ${formatDuration(limitMs)}`;
  return new MillraceError("WAIT_TIMED_OUT", message, { details: { id, status } });
}

/** Instants travel as ISO text. */
function bodyOf(request: OperationRequest): object {
  const { jobs } = request;
  const runAt = "runAt" in request ? momentOf(request.runAt) : undefined;
  if (jobs === undefined) return { ...request, runAt };
  const { createdAfter, createdBefore } = jobs;
  const times = { createdAfter: momentOf(createdAfter), createdBefore: momentOf(createdBefore) };
  return { ...request, runAt, jobs: { ...jobs, ...times } };
}

function momentOf(instant: Instant | undefined): string | undefined {
  return instant === undefined ? undefined : new Date(instantMs(instant, "time")).toISOString();
}
