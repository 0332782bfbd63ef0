/** What a worker tells the store about itself. */
import { hostname } from "node:os";
import { GENERAL_LANE } from "../core/lanes.ts";
import { PROTOCOL } from "../store/store.ts";
import type {
  ClaimRequest,
  SlotsByLane,
  LoneClaimRequest,
  WorkerId,
  WorkerInfo,
} from "../store/types/jobs-and-runs.ts";
import type { HostProcess } from "./crashes/host-process.ts";
import type { WorkerSettings } from "./settings.ts";

interface WorkerFacts {
  readonly id: WorkerId;
  readonly process: Pick<HostProcess, "id" | "pid">;
  readonly version: string;
  readonly settings: WorkerSettings;
}

export function infoOf({ id, process, version, settings }: WorkerFacts): Omit<WorkerInfo, "quiet"> {
  return {
    id,
    process: process.id,
    host: hostname(),
    pid: process.pid,
    version,
    protocol: PROTOCOL,
    leaseMs: settings.leaseMs,
    beatMs: settings.beatMs,
    types: [...settings.definitions.keys()],
    lanes: lanesWithSlots(settings),
    slots: slotsOf(settings),
    laneSlots: usedLanes(settings),
    tenant: settings.tenant ?? null,
    appVersion: settings.appVersion,
  };
}

/** The worker, and the jobs it takes. */
export function requestOf(
  worker: WorkerId,
  { definitions, tenant }: WorkerSettings,
): Pick<ClaimRequest, "worker" | "types" | "tenants"> {
  const tenants = tenant === undefined ? {} : { tenants: [tenant] };
  return { worker, types: [...definitions.keys()], ...tenants };
}

/** The same for jobs that run alone. */
export function loneRequestOf(worker: WorkerId, settings: WorkerSettings): LoneClaimRequest {
  const lanes = lanesWithSlots(settings);
  return {
    ...requestOf(worker, settings),
    lanes: lanes.includes(GENERAL_LANE) ? "any" : lanes,
    cap: settings.preset.retry.crashCap,
  };
}

/** The same for probes of services: jobs of types that use one. */
export function probeRequestOf(
  worker: WorkerId,
  settings: WorkerSettings,
): Omit<LoneClaimRequest, "lanes"> {
  const using = [...settings.definitions.values()].filter(
    (definition) => (definition.settings.services ?? []).length > 0,
  );
  const { crashCap: cap } = settings.preset.retry;
  return { ...requestOf(worker, settings), types: using.map(({ type }) => type), cap };
}

/** How many jobs run in the worker at the same time, over all lanes. */
export function slotsOf({ lanes }: Pick<WorkerSettings, "lanes">): number {
  return Object.values(lanes).reduce((total, slots) => total + slots, 0);
}

function lanesWithSlots(settings: Pick<WorkerSettings, "lanes">): string[] {
  return Object.keys(usedLanes(settings));
}

function usedLanes({ lanes }: Pick<WorkerSettings, "lanes">): SlotsByLane {
  return Object.fromEntries(Object.entries(lanes).filter(([, slots]) => slots > 0));
}
