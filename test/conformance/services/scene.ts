/** Steps that the suites about services share. */
import assert from "node:assert/strict";
import type { JobStore } from "../../../src/store/store.ts";
import type { LoneClaimRequest, WorkerId } from "../../../src/store/types/jobs-and-runs.ts";
import type {
  BreakerRecord,
  CallReport,
  ProbeClaim,
  ReportAnswer,
  ServiceRun,
} from "../../../src/store/types/services.ts";
import { declaration, workerId } from "../../support/factories.ts";
import { add, at, joinWorker } from "../../support/steps.ts";
import type { TestStore } from "../../support/stores.ts";

export const OPEN_MS = 60_000;
export const LIMITS = { failuresMax: 3, openMs: OPEN_MS };
export const RUN: ServiceRun = { key: 4_711, n: 1 };

type Failure = Extract<CallReport, { outcome: "failed" }>;

export function failure(overrides: Partial<Failure> = {}): Failure {
  return {
    outcome: "failed",
    service: "bank",
    run: RUN,
    reason: "hung up",
    limits: LIMITS,
    tenant: "default",
    ...overrides,
  };
}

export async function fail(
  store: JobStore,
  overrides: Partial<Failure> = {},
): Promise<ReportAnswer> {
  return at(await store.reportCalls([failure(overrides)]), 0);
}

export async function succeed(
  store: JobStore,
  run: ServiceRun | null = null,
): Promise<ReportAnswer> {
  const report = { outcome: "succeeded", service: "bank", run, count: 1 } as const;
  return at(await store.reportCalls([report]), 0);
}

/** The run was a probe of several services. */
export async function imply(store: JobStore, run: ServiceRun): Promise<ReportAnswer> {
  return at(await store.reportCalls([{ outcome: "implied", service: "bank", run }]), 0);
}

/** Fails so often that the breaker is open. */
export async function outage(store: JobStore, service = "bank"): Promise<void> {
  for (let call = 0; call < LIMITS.failuresMax; call += 1) await fail(store, { service });
}

/** An outage, and the probe after it. Another job waits for the next probe. */
export async function outageWithProbe({ store, clock }: TestStore): Promise<ProbeClaim> {
  await uses(store, ["bank"]);
  await add(store, {}, {});
  await outage(store);
  await clock.advance(OPEN_MS);
  return takeProbe(store);
}

/** The type `email` uses these services from now on. */
export async function uses(store: JobStore, services: readonly string[], type = "email") {
  await store.declareTypes(workerId(), [declaration({ type, services })]);
}

export async function breaker(store: JobStore, service = "bank"): Promise<BreakerRecord> {
  const found = (await store.breakers()).find((each) => each.service === service);
  assert.ok(found, `there is no breaker of ${service}`);
  return found;
}

export function probeRequest(
  worker: WorkerId,
  overrides: Partial<LoneClaimRequest> = {},
): LoneClaimRequest {
  return { worker, lanes: "any", cap: 3, ...overrides };
}

export async function probe(
  store: JobStore,
  overrides: Partial<LoneClaimRequest> = {},
): Promise<ProbeClaim | null> {
  const worker = overrides.worker ?? (await joinWorker(store));
  return store.claimProbe(probeRequest(worker, overrides));
}

/** A probe that must be there. */
export async function takeProbe(store: JobStore): Promise<ProbeClaim> {
  const claim = await probe(store);
  assert.ok(claim, "no probe was claimed");
  return claim;
}
