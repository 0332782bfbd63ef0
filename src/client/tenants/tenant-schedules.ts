/** Schedules as one tenant sees them: those whose jobs are of another tenant do not exist. */
import type { ScheduleStore } from "../../store/roles/schedules.ts";
import type { ScheduleRecord } from "../../store/types/schedules.ts";
import { concernsAll, forbiddenTenant, type TenantScope } from "./tenant-scope.ts";

type Rules = {
  readonly [Name in keyof ScheduleStore]: (scope: TenantScope) => ScheduleStore[Name];
};

export const SCHEDULE_RULES: Rules = {
  schedules:
    ({ store, tenant }) =>
    async (filter, page) =>
      (filter.tenant ?? tenant) === tenant ? store.schedules({ tenant }, page) : [],
  schedule: (scope) => (name) => ownSchedule(scope, name),
  scheduleTicks: (scope) => async (name, page) =>
    (await isOwn(scope, name)) ? scope.store.scheduleTicks(name, page) : [],
  saveSchedule: (scope) => async (schedule, change, firstSlot) => {
    const { store, tenant } = scope;
    if (schedule.job.tenant !== tenant) {
      throw forbiddenTenant(tenant, "the jobs of a schedule are of another tenant");
    }
    // A new schedule with the name of another tenant's schedule is refused by the store.
    if (change.revision !== null && !(await isOwn(scope, schedule.name))) return "unknown";
    const ofTenant = { ...change, ofTenant: true } as const;
    const answer = await store.saveSchedule(schedule, ofTenant, firstSlot);
    const isOther = answer === "owned_by_code" && !(await isOwn(scope, schedule.name));
    return isOther ? "exists" : answer;
  },
  pauseSchedule: (scope) => async (name, why) =>
    (await isOwn(scope, name)) && scope.store.pauseSchedule(name, why),
  resumeSchedule: (scope) => async (name, firstSlot, act) =>
    (await isOwn(scope, name)) ? scope.store.resumeSchedule(name, firstSlot, act) : "unknown",
  runSchedule: (scope) => async (name, make, act) =>
    (await isOwn(scope, name)) ? scope.store.runSchedule(name, make, act) : { status: "unknown" },
  removeSchedule: (scope) => async (name, act) =>
    (await isOwn(scope, name)) ? scope.store.removeSchedule(name, act) : "unknown",
  // Workers tick the schedules of all tenants.
  declareSchedules: refused("declareSchedules"),
  confirmSchedules: refused("confirmSchedules"),
  dueSchedules: refused("dueSchedules"),
  tickSchedule: refused("tickSchedule"),
};

function refused(verb: string): (scope: TenantScope) => () => Promise<never> {
  return ({ tenant }) =>
    () =>
      Promise.reject(concernsAll(verb, tenant));
}

async function ownSchedule(
  { store, tenant }: TenantScope,
  name: string,
): Promise<ScheduleRecord | null> {
  const schedule = await store.schedule(name);
  return schedule?.job.tenant === tenant ? schedule : null;
}

async function isOwn(scope: TenantScope, name: string): Promise<boolean> {
  return (await ownSchedule(scope, name)) !== null;
}
