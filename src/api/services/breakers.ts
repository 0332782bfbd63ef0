/** `mill.breakers`: the circuit breakers of external services. */
import type { ActedBy } from "../control/audit.ts";

export interface Breakers {
  /** Lists the services that types use or whose breaker was ever changed, by name. */
  list(): Promise<readonly BreakerView[]>;
  /** The breaker of one service. A service that is not known has a closed breaker. */
  get(service: string): Promise<BreakerView>;
  /**
   * Opens the breaker of a service with a reason of up to 500 characters. Its jobs wait until
   * `reset`: no job tries the service before.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => "paid");
   *
   * await using test = await createTestMill();
   * const { mill, drain } = test;
   * await mill.breakers.forceOpen("bank", "they asked us to stop", { actor: "ada" });
   * const job = await mill.enqueue(pay);
   * assert.equal((await drain([pay])).succeeded, 0);
   * assert.equal((await mill.jobs.explain(job.id)).reason, "breaker");
   *
   * assert.equal(await mill.breakers.reset("bank", { actor: "ada" }), true);
   * assert.equal((await drain([pay])).succeeded, 1);
   * ```
   */
  forceOpen(service: string, reason: string, by?: { actor: string }): Promise<void>;
  /**
   * Closes the breaker of a service, and ends the pauses that the service has asked for by
   * `retryAfter`. Returns whether anything has changed. A pause by `mill.pause` stays.
   */
  reset(service: string, by?: ActedBy): Promise<boolean>;
  /** What has happened to the breaker of a service, newest first. */
  history(service: string, options?: { limit?: number }): Promise<readonly BreakerChangeView[]>;
}

export interface BreakerView {
  readonly service: string;
  /** `half_open`: one job, the probe, tries the service. */
  readonly state: "closed" | "open" | "half_open";
  /** The number of failures in a row. A closed breaker that is on trial keeps them. */
  readonly failures: number;
  /** The successes since the last failure, as far as they were stored. */
  readonly successes: number;
  readonly lastFailureAt: Date | null;
  readonly openedAt: Date | null;
  readonly halfOpenedAt: Date | null;
  /** From when on a job tries the service. `null`: not open, or open until `reset`. */
  readonly probeAt: Date | null;
  /** The job that tries the service. */
  readonly probeJobId: string | null;
  /** Why the breaker has its state: the last failure, a trial, or what an operator wrote. */
  readonly reason: string | null;
  /** The operator who has changed the state. */
  readonly changedBy: string | null;
  /** `null`: the breaker was never changed. */
  readonly updatedAt: Date | null;
  /** The types whose jobs call the service. */
  readonly types: readonly string[];
  /**
   * The jobs that wait for the service, up to 10,000; `atLeast` says that there are more. A closed
   * breaker whose service has asked for no pause holds none.
   */
  readonly waiting: { readonly count: number; readonly atLeast: boolean };
  /** The pauses that the service has asked for. `tenant: null` stands for all tenants. */
  readonly parkedUntil: readonly {
    readonly tenant: string | null;
    readonly until: Date;
    readonly reason: string;
  }[];
}

export interface BreakerChangeView {
  readonly at: Date;
  readonly state: BreakerView["state"];
  readonly failures: number;
  readonly reason: string | null;
  readonly changedBy: string | null;
}
