/** Who can take part. Each is loaded in its own process, and only there. */
import type { OpenSystem } from "./system.ts";

export type SystemName =
  | "bare"
  | "bullmq"
  | "graphile-worker"
  | "millrace"
  | "openworkflow"
  | "pg-boss"
  | "plainjob";

export const SYSTEMS: Readonly<Record<SystemName, () => Promise<{ readonly open: OpenSystem }>>> = {
  bare: () => import("./bare.ts"),
  bullmq: () => import("../peers/bullmq.ts"),
  "graphile-worker": () => import("../peers/graphile-worker.ts"),
  millrace: () => import("./millrace.ts"),
  openworkflow: () => import("../peers/openworkflow.ts"),
  "pg-boss": () => import("../peers/pg-boss.ts"),
  plainjob: () => import("../peers/plainjob.ts"),
};

export function isSystem(name: string): name is SystemName {
  return Object.hasOwn(SYSTEMS, name);
}
