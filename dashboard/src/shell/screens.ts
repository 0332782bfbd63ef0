/** The screens: their names, keys and places in the side bar. */
import type { ComponentType } from "preact";
import type { Name } from "../api/client.ts";
import type { IconName } from "../parts/icon.tsx";

export interface ScreenProps {
  /** The parts of the path behind the name of the screen. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

export interface Screen {
  readonly id: string;
  readonly name: string;
  readonly icon: IconName;
  /** A hidden screen has an address and a key, and no place in the side bar. */
  readonly group: "" | "Run" | "Trace" | "hidden";
  /** Pressed after `g`. */
  readonly key?: string;
  /** The call that a person must be allowed to see it. */
  readonly needs: Name;
  /** Loaded when it is first shown, so that the first page stays small. */
  readonly load: () => Promise<ComponentType<ScreenProps>>;
}

export const SCREENS: readonly Screen[] = [
  screen("overview", "Overview", "overview", "", "o", "getOverview", async () => {
    return (await import("../screens/overview/overview.tsx")).Overview;
  }),
  screen("jobs", "Jobs", "jobs", "", "j", "listJobs", async () => {
    return (await import("../screens/jobs/jobs.tsx")).Jobs;
  }),
  screen("failures", "Failures", "failures", "", "f", "listFailures", async () => {
    return (await import("../screens/failures/failures.tsx")).Failures;
  }),
  screen("letters", "Dead letters", "letters", "", "d", "listDeadLetters", async () => {
    return (await import("../screens/letters/letters.tsx")).Letters;
  }),
  screen("lanes", "Lanes and types", "lanes", "Run", "q", "listTypes", async () => {
    return (await import("../screens/lanes/lanes.tsx")).Lanes;
  }),
  screen("schedules", "Schedules", "schedules", "Run", "s", "listSchedules", async () => {
    return (await import("../screens/schedules/schedules.tsx")).Schedules;
  }),
  screen("workers", "Workers", "workers", "Run", "w", "listWorkers", async () => {
    return (await import("../screens/workers/workers.tsx")).Workers;
  }),
  screen("breakers", "Breakers", "breakers", "Run", "b", "listBreakers", async () => {
    return (await import("../screens/breakers/breakers.tsx")).Breakers;
  }),
  screen("correlation", "Correlation", "correlation", "Trace", "c", "listJobs", async () => {
    return (await import("../screens/correlation/correlation.tsx")).Correlation;
  }),
  screen("operations", "Operations", "operations", "Trace", "p", "listOperations", async () => {
    return (await import("../screens/operations/operations.tsx")).OperationsScreen;
  }),
  screen("tenants", "Tenants", "tenants", "Trace", "t", "listTenants", async () => {
    return (await import("../screens/tenants/tenants.tsx")).Tenants;
  }),
  screen("audit", "Audit", "audit", "Trace", "a", "listAudit", async () => {
    return (await import("../screens/audit/audit.tsx")).Audit;
  }),
  screen("settings", "Settings", "settings", "Trace", "e", "getSettings", async () => {
    return (await import("../screens/settings/settings.tsx")).Settings;
  }),
  screen("sheet", "Design sheet", "eye", "hidden", "h", "getSession", async () => {
    return (await import("../screens/sheet/sheet.tsx")).Sheet;
  }),
];

function screen(
  id: string,
  name: string,
  icon: IconName,
  group: Screen["group"],
  key: string,
  needs: Name,
  load: Screen["load"],
): Screen {
  return { id, name, icon, group, key, needs, load };
}
