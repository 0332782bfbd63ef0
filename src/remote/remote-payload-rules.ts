/** `mill.payloadRules` of a server. */
import type {
  PayloadRules,
  PayloadRuleTarget,
  PayloadRuleView,
} from "../api/control/payload-rules.ts";
import { withDates } from "./dates.ts";
import type { ServerCalls } from "./server-calls.ts";

const PATH = "/api/v1/payload-rules";

/** The server records whom the token belongs to. */
export function remotePayloadRules(calls: ServerCalls): PayloadRules {
  return {
    async set(target, rule, by) {
      const body = { rule, ...(by?.reason ? { reason: by.reason } : {}) };
      await calls.json(pathOf(target), { method: "PUT", body });
    },
    async remove(target, by) {
      const query = by?.reason ? { reason: by.reason } : {};
      const options = { method: "DELETE", query } as const;
      return (await calls.json<{ wasSet: boolean }>(pathOf(target), options)).wasSet;
    },
    async list() {
      return withDates((await calls.json<{ rules: PayloadRuleView[] }>(PATH)).rules);
    },
  };
}

function pathOf(target: PayloadRuleTarget): string {
  if ("installation" in target) return `${PATH}/installation/all`;
  if ("category" in target) return `${PATH}/category/${encodeURIComponent(target.category)}`;
  return `${PATH}/type/${encodeURIComponent(target.type)}`;
}
