/** `mill.fairness`, over HTTP. */
import type { Fairness, FairLane } from "../api/control/fairness.ts";
import { checkName } from "../api/control/targets.ts";
import { withDates } from "./dates.ts";
import type { ServerCalls } from "./server-calls.ts";

export function remoteFairness(calls: ServerCalls): Fairness {
  return {
    async set(lane, rule = {}, { reason } = {}) {
      const body = { ...rule, reason };
      await calls.json(pathOf("fairness.set", lane), { method: "PUT", body });
    },
    async remove(lane, { reason } = {}) {
      const path = pathOf("fairness.remove", lane);
      const call = { method: "DELETE", query: { reason } } as const;
      return (await calls.json<{ wasSet: boolean }>(path, call)).wasSet;
    },
    async list() {
      return withDates((await calls.json<{ lanes: FairLane[] }>("/api/v1/fairness")).lanes);
    },
  };
}

function pathOf(verb: string, lane: string): string {
  checkName(verb, "lane", lane);
  return `/api/v1/fairness/${encodeURIComponent(lane)}`;
}
