/** Jobs that call services, outages of services, and what operators do with breakers. */
import { MANNERS, SERVICES, serviceContracts } from "../fleet/services.ts";
import type { ActionContext, Operation } from "./action-context.ts";
import type { Draw } from "./draw.ts";
import type { Behaviour, Operation as Kind } from "./plan.ts";

const JOBS_MAX = 8;
const OUTAGE_MS_MAX = 6_000;
const PARK_MS_MAX = 3_000;
/** How runs go after their calls, apart from those that take long. */
const RUNS: readonly Behaviour[] = [
  "ok",
  "ok",
  "ok",
  "ok",
  "slow",
  "kill",
  "throw",
  "fatal",
  "snooze",
];
const TENANTS = ["default", "default", "n1", "n2"] as const;

export const SERVICE_OPERATIONS: Readonly<Partial<Record<Kind, Operation>>> = {
  callServices: ({ plan }, { client }, draw) =>
    client.enqueueMany(
      Array.from({ length: 1 + draw.upTo(JOBS_MAX) }, () => {
        const contract = draw.one(serviceContracts) ?? serviceContracts[0];
        const runs = [draw.one(RUNS) ?? "ok", draw.one(RUNS) ?? "ok", "ok"] as const;
        const payload = { token: draw.upTo(1_000), runs, ms: draw.upTo(plan.runMs) };
        const tenant = draw.one(TENANTS) ?? "default";
        return contract.of(payload, { tenant, maxAttempts: 2 + draw.upTo(6) });
      }),
    ),
  openBreaker: (_, { client }, draw) =>
    client.breakers.forceOpen(draw.one(SERVICES) ?? "bank", "planned", {
      actor: `ann ${draw.upTo(1_000)}`,
    }),
  resetBreaker: (_, { client }, draw) =>
    client.breakers.reset(draw.one(SERVICES) ?? "bank", { actor: `bob ${draw.upTo(1_000)}` }),
};

export function serviceDown({ world, plan, fleet }: ActionContext, draw: Draw): void {
  const outage = {
    untilMs: Math.min(plan.lengthMs, world.elapsedMs + 1_000 + draw.upTo(OUTAGE_MS_MAX)),
    manner: draw.one(MANNERS) ?? "errors",
    retryAfterMs: 100 + draw.upTo(PARK_MS_MAX),
  };
  const service = draw.one(SERVICES) ?? "bank";
  fleet.services.fail(service, outage);
}
