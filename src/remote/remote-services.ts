/** Types and services of an installation behind a server. */
import type { BreakerChangeView, Breakers, BreakerView } from "../api/services/breakers.ts";
import type { Types, TypeView } from "../api/services/types.ts";
import { durationMs } from "../core/duration.ts";
import { withDates } from "./dates.ts";
import type { ServerCalls } from "./server-calls.ts";

export function remoteTypes(calls: ServerCalls): Types {
  const list = async (): Promise<readonly TypeView[]> =>
    withDates((await calls.json<{ types: TypeView[] }>("/api/v1/types")).types);
  return {
    list,
    get: async (type) => (await list()).find((each) => each.type === type) ?? null,
    async override(type, { timeout, ...settings }) {
      const timeoutMs = timeout === false ? null : timeout && durationMs(timeout, "timeout");
      const body = { ...settings, ...(timeout !== undefined && { timeoutMs }) };
      await calls.json(typePath(type), { method: "PATCH", body });
    },
    async reset(type) {
      const path = `${typePath(type)}/override`;
      return (await calls.json<{ wasSet: boolean }>(path, { method: "DELETE" })).wasSet;
    },
  };
}

function typePath(type: string): string {
  return `/api/v1/types/${encodeURIComponent(type)}`;
}

export function remoteBreakers(calls: ServerCalls): Breakers {
  const path = (service: string, part = ""): string =>
    `/api/v1/breakers/${encodeURIComponent(service)}${part}`;
  return {
    async list() {
      const { breakers } = await calls.json<{ breakers: BreakerView[] }>("/api/v1/breakers");
      return withDates(breakers);
    },
    get: async (service) => withDates(await calls.json<BreakerView>(path(service))),
    async forceOpen(service, reason) {
      await calls.json(path(service, "/open"), { method: "POST", body: { reason } });
    },
    async reset(service) {
      const answer = await calls.json<{ changed: boolean }>(path(service, "/reset"), {
        method: "POST",
      });
      return answer.changed;
    },
    async history(service, { limit } = {}) {
      const query = limit === undefined ? {} : { limit };
      const found = await calls.json<{ changes: BreakerChangeView[] }>(path(service, "/history"), {
        query,
      });
      return withDates(found.changes);
    },
  };
}
