/** `mill.fairness`, over HTTP. */
import type { Fairness, FairLane } from "../api/control/fairness.ts";
import { checkName } from "../api/control/targets.ts";
import { withDates } from "./dates.ts";
import type { ServerCalls } from "./server-calls.ts";

export function remoteFairness(calls: ServerCalls): Fairness {
  return {
    async set(lane, rule = {}) {
      await calls.json(pathOf("fairness.set", lane), { method: "PUT", body: rule });
    },
    async remove(lane) {
      const path = pathOf("fairness.remove", lane);
      return (await calls.json<{ wasSet: boolean }>(path, { method: "DELETE" })).wasSet;
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
