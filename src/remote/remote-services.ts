/** Types and services of an installation behind a server. */
import type { BreakerChangeView, Breakers, BreakerView } from "../api/services/breakers.ts";
import type { Types, TypeView } from "../api/services/types.ts";
import { checkName } from "../api/control/targets.ts";
import { durationMs } from "../core/duration.ts";
import { withDates } from "./dates.ts";
import type { ServerCalls } from "./server-calls.ts";

export function remoteTypes(calls: ServerCalls): Types {
  const list = async (): Promise<readonly TypeView[]> =>
    withDates((await calls.json<{ types: TypeView[] }>("/api/v1/types")).types);
  return {
    list,
    get: async (type) => (await list()).find((each) => each.type === type) ?? null,
    async override(type, { timeout, ...settings }, { reason } = {}) {
      const timeoutMs = timeout === false ? null : timeout && durationMs(timeout, "timeout");
      const body = { ...settings, ...(timeout !== undefined && { timeoutMs }), reason };
      await calls.json(typePath("types.override", type), { method: "PATCH", body });
    },
    async reset(type, { reason } = {}) {
      const path = `${typePath("types.reset", type)}/override`;
      const call = { method: "DELETE", query: { reason } } as const;
      return (await calls.json<{ wasSet: boolean }>(path, call)).wasSet;
    },
  };
}

function typePath(verb: string, type: string): string {
  checkName(verb, "type", type);
  return `/api/v1/types/${encodeURIComponent(type)}`;
}

export function remoteBreakers(calls: ServerCalls): Breakers {
  const path = (verb: keyof Breakers, service: string, part = ""): string => {
    checkName(`breakers.${verb}`, "service", service);
    return `/api/v1/breakers/${encodeURIComponent(service)}${part}`;
  };
  return {
    async list() {
      const { breakers } = await calls.json<{ breakers: BreakerView[] }>("/api/v1/breakers");
      return withDates(breakers);
    },
    get: async (service) => withDates(await calls.json<BreakerView>(path("get", service))),
    async forceOpen(service, reason) {
      await calls.json(path("forceOpen", service, "/open"), { method: "POST", body: { reason } });
    },
    async reset(service, { reason } = {}) {
      const call = { method: "POST", body: { reason } } as const;
      return (await calls.json<{ changed: boolean }>(path("reset", service, "/reset"), call))
        .changed;
    },
    async history(service, { limit } = {}) {
      const query = limit === undefined ? {} : { limit };
      const history = path("history", service, "/history");
      const found = await calls.json<{ changes: BreakerChangeView[] }>(history, { query });
      return withDates(found.changes);
    },
  };
}
