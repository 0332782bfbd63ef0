/** The services that jobs of the simulation call, and their outages. */
import { defineJob, RateLimitedError, TransientError, typed } from "millrace";
import type { Actor } from "./effects.ts";
import { behave, type Busy, type Payload } from "./jobs.ts";
import type { Bench } from "./pipelines.ts";
import type { Behaviour } from "../plan/plan.ts";
import type { World } from "./world.ts";

export const SERVICES = ["bank", "mail"] as const;
export type Service = (typeof SERVICES)[number];

export const payContract = defineJob({
  type: "pay",
  payload: typed<Payload>(),
  timeout: "3s",
  services: ["bank"],
});
export const postContract = defineJob({
  type: "post",
  payload: typed<Payload>(),
  timeout: "3s",
  lane: "fast",
  services: ["bank", "mail"],
});
/** Its handler calls services only through `ctx.breaker`. */
const callContract = defineJob({ type: "call", payload: typed<Payload>(), timeout: "3s" });
export const serviceContracts = [payContract, postContract, callContract] as const;

/** How a service fails: with errors, by asking for a pause, or without an answer. */
export const MANNERS = [
  "errors",
  "errors",
  "errors",
  "limited",
  "limited",
  "limitedTenant",
  "silent",
] as const;
type Manner = (typeof MANNERS)[number];

interface ServiceOutage {
  readonly untilMs: number;
  readonly manner: Manner;
  readonly retryAfterMs: number;
}

export interface ServicesParts {
  readonly world: World;
  /** A handler is about to call a service. */
  readonly calls: (actor: Actor, service: Service) => void;
  /** The call has failed. */
  readonly failed: (actor: Actor, service: Service) => void;
}

/** The services as handlers meet them. */
export class Services {
  readonly #parts: ServicesParts;
  readonly #outages = new Map<Service, ServiceOutage>();

  constructor(parts: ServicesParts) {
    this.#parts = parts;
  }

  fail(service: Service, outage: ServiceOutage): void {
    this.#outages.set(service, outage);
  }

  heal(): void {
    this.#outages.clear();
  }

  /** The run of a job that calls services: all calls, and then the behaviour of the run. */
  async carryOut(type: string, behaviour: Behaviour, bench: Bench): Promise<void> {
    const { ctx, payload } = bench;
    bench.turns(null);
    if (type === "call") {
      const service = SERVICES[payload.token % SERVICES.length] ?? "bank";
      await ctx.breaker(service, () => this.#call(service, bench));
    } else {
      await this.#call("bank", bench);
      if (type === "post") await this.#call("mail", bench);
    }
    if (!isTalkative(behaviour)) await behave(behaviour, bench);
  }

  async #call(service: Service, { actor, ctx, payload, sleep }: Bench): Promise<void> {
    const { world, calls, failed } = this.#parts;
    calls(actor, service);
    await sleep(payload.ms % 60);
    const outage = this.#outages.get(service);
    if (outage === undefined || outage.untilMs <= world.elapsedMs) return;
    const { manner, retryAfterMs: retryAfter } = outage;
    // Whether a breaker counts a time-out depends on the job.
    if (manner !== "silent") failed(actor, service);
    switch (manner) {
      case "errors":
        throw new TransientError("planted: 503", { service });
      case "limited":
        throw new RateLimitedError("planted: 429", { service, retryAfter });
      case "limitedTenant":
        throw new RateLimitedError("planted: 429", { service, retryAfter, scope: "tenant" });
      case "silent":
        await new Promise((_, reject) => {
          ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason), { once: true });
        });
    }
  }
}

function isTalkative(behaviour: Behaviour): behaviour is Busy {
  return ["talk", "step", "units", "family"].includes(behaviour);
}
