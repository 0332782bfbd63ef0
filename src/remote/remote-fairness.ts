/** `mill.fairness`, over HTTP. */
import type { Fairness, FairLane } from "../api/control/fairness.ts";
import { withDates } from "./dates.ts";
import type { ServerCalls } from "./server-calls.ts";

export function remoteFairness(calls: ServerCalls): Fairness {
  return {
    async set(lane, rule = {}) {
      await calls.json(pathOf(lane), { method: "PUT", body: rule });
    },
    async remove(lane) {
      return (await calls.json<{ wasSet: boolean }>(pathOf(lane), { method: "DELETE" })).wasSet;
    },
    async list() {
      return withDates((await calls.json<{ lanes: FairLane[] }>("/api/v1/fairness")).lanes);
    },
  };
}

function pathOf(lane: string): string {
  return `/api/v1/fairness/${encodeURIComponent(lane)}`;
}
