/** `mill.failures` of a server. */
import type { FailureActor, FailureGroup, Failures } from "../api/control/failures.ts";
import { instantMs } from "../core/duration.ts";
import { withDates } from "./dates.ts";
import type { ServerCalls } from "./server-calls.ts";

export function remoteFailures(
  calls: ServerCalls,
  reasonOf: (notes: string | undefined) => string,
): Failures {
  const path = (cause: string, verb = ""): string =>
    `/api/v1/failures/${encodeURIComponent(cause)}${verb}`;
  const change = (cause: string, verb: string, body: object): Promise<any> =>
    calls.json(path(cause, `/${verb}`), { method: "POST", body });
  return {
    async list(filter = {}) {
      const query = { ...filter };
      const found = await calls.json<{ failures: FailureGroup[] }>("/api/v1/failures", { query });
      return withDates(found.failures);
    },
    get: async (cause, filter = {}) =>
      withDates(await calls.json<FailureGroup>(path(cause), { query: { ...filter } })),
    acknowledge: (cause, by) => change(cause, "acknowledge", bodyOf(by)),
    snooze: (cause, { until, ...by }) =>
      change(cause, "snooze", {
        ...bodyOf(by),
        until: new Date(instantMs(until, "until")).toISOString(),
      }),
    retry: async (cause, by) =>
      change(cause, "retry", { ...bodyOf(by), notes: reasonOf(by.notes) }),
    discard: async (cause, by) =>
      change(cause, "discard", { ...bodyOf(by), notes: reasonOf(by.notes) }),
  };
}

/** The server knows the actor. */
function bodyOf({ actor: _actor, ...body }: FailureActor & { limit?: number }): object {
  return body;
}
