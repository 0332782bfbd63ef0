/** `mill.schedules`, over HTTP. */
import type { Schedules, ScheduleView, TickView } from "../api/schedule.ts";
import { checkName } from "../api/control/targets.ts";
import { withDates } from "./dates.ts";
import { readPages } from "./pages.ts";
import { reasonOf } from "./reason.ts";
import type { ServerCalls } from "./server-calls.ts";

const PATH = "/api/v1/schedules";

export function remoteSchedules(calls: ServerCalls): Schedules {
  const path = (name: string, part = ""): string => {
    checkName("schedules", "name", name);
    return `${PATH}/${encodeURIComponent(name)}${part}`;
  };
  return {
    get: async (name) => viewOf(await calls.json<ScheduleView>(path(name))),
    async list({ limit, after, ...filter } = {}) {
      const { entries } = await readPages({ limit, after }, async (page) => {
        const query = { ...filter, ...page };
        const found = await calls.json<any>(PATH, { query });
        const views: ScheduleView[] = found.schedules.map(viewOf);
        return { entries: views, next: found.next };
      });
      return entries;
    },
    async create({ name, when, contract: { type }, payload, options }, by) {
      const reason = reasonOf(by?.reason, "--reason");
      const body = { name, when, type, payload, options, reason };
      return viewOf(await calls.json<ScheduleView>(PATH, { method: "POST", body }));
    },
    async update(name, when, by) {
      const body = { ...when, reason: reasonOf(by?.reason, "--reason") };
      return viewOf(await calls.json<ScheduleView>(path(name), { method: "PUT", body }));
    },
    async pause(name, reason) {
      await calls.json(path(name, "/pause"), { method: "PUT", body: { reason } });
    },
    resume: async (name, { reason } = {}) =>
      calls.json(path(name, "/pause"), { method: "DELETE", query: { reason } }),
    runNow: async (name, { idempotencyKey, reason } = {}) =>
      calls.json(path(name, "/run"), { method: "POST", idempotencyKey, body: { reason } }),
    async remove(name, by) {
      const address = path(name);
      const query = { reason: reasonOf(by?.reason, "--reason") };
      await calls.json(address, { method: "DELETE", query });
    },
    async history(name, { before, limit } = {}) {
      const query = { before: before?.toISOString(), limit };
      const found = await calls.json<{ ticks: TickView[] }>(path(name, "/ticks"), { query });
      return found.ticks.map(tickOf);
    },
  };
}

/** Instants travel as text. */
function viewOf(view: ScheduleView): ScheduleView {
  const { start, end, lastTick, nextRuns } = view;
  return {
    ...withDates(view),
    start: dateOf(start),
    end: dateOf(end),
    lastTick: dateOf(lastTick),
    nextRuns: nextRuns.map((run) => new Date(run)),
  };
}

function tickOf(tick: TickView): TickView {
  return { ...withDates(tick), slot: new Date(tick.slot), since: dateOf(tick.since) };
}

function dateOf(instant: Date | null): Date | null {
  return instant === null ? null : new Date(instant);
}
