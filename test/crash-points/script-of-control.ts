/** A script of declared types, services with their breakers, limits and intakes. */
import assert from "node:assert/strict";
import type { SqliteJobStore } from "../../src/store/sqlite/store.ts";
import { completed, declaration, newOperation, workerInfo } from "../support/factories.ts";
import { settleItem, take, type Batch } from "../support/steps.ts";
import { did, type Life, type Scene, type Step } from "./steps.ts";

const HOUR_MS = 3_600_000;
const OPEN_MS = 60_000;
const ACME = { kind: "tenant", name: "acme" } as const;
const SMS = { kind: "type", name: "sms" } as const;
const SMS_RULE = { scope: "type", name: "sms" } as const;
const WHY = { reason: "the bank is closed", by: "ada" } as const;

export const control: Life = { before, after };

async function* before(store: SqliteJobStore, scene: Scene): AsyncGenerator<Step, Batch> {
  const { worker, job } = scene;
  await store.register(workerInfo({ id: worker, process: worker, leaseMs: HOUR_MS }));
  yield did("register");
  await store.declareTypes(worker, [declaration({ type: "email", services: ["bank"] })]);
  yield did("declare the services of a type");
  await store.declareLimits([{ type: "email", rule: { concurrency: 5, rate: null } }]);
  yield did("declare the limit of a type");
  await store.enqueue([job({}), job({}), job({ type: "sms", tenant: "acme" })]);
  yield did("enqueue");
  await store.setLimit(ACME, { concurrency: 1, rate: null }, "ada");
  yield did("set a limit");
  await store.declareFairness([{ lane: "general", weights: {} }]);
  yield did("declare that a lane is fair");
  await store.setFairness("general", { acme: 3 }, "ada");
  yield did("make a lane fair");
  await store.giveTurns(100);
  yield did("give turns");
  const batch = await take(store, { worker, limit: 1 });
  yield did("claim with permits");
  yield* fail(store, batch);
  return batch;
}

/** The first failure opens the breaker. */
async function* fail(store: SqliteJobStore, { jobs }: Batch): AsyncGenerator<Step, void> {
  const { key = 0, n = 0 } = jobs[0] ?? {};
  const limits = { failuresMax: 1, openMs: OPEN_MS };
  const call = { service: "bank", run: { key, n }, tenant: "default" } as const;
  await store.reportCalls([{ ...call, outcome: "failed", reason: "hung up", limits }]);
  yield did("report a failed call");
}

async function* after(
  store: SqliteJobStore,
  scene: Scene,
  held: Batch,
): AsyncGenerator<Step, void> {
  yield* probe(store, scene, held);
  yield* operate(store, scene);
}

async function* probe(
  store: SqliteJobStore,
  { worker, clock }: Scene,
  held: Batch,
): AsyncGenerator<Step, void> {
  await clock.advance(OPEN_MS);
  const claim = await store.claimProbe({ worker, lanes: "any", cap: 3 });
  assert.ok(claim, "no probe was claimed");
  yield did("claim a probe");
  const run = { key: claim.job.key, n: claim.job.n };
  await store.callServices([{ service: "bank", run, tenant: "default" }]);
  yield did("ask whether a service may be called");
  await store.reportCalls([{ outcome: "succeeded", service: "bank", run, count: 1 }]);
  yield did("report that the service works again");
  const items = [
    { lease: claim.lease, ...run, settlement: completed() },
    ...held.jobs.map((job) => settleItem(held, job, completed())),
  ];
  await store.settle(items);
  yield did("settle");
  await store.keepPermits(worker, []);
  yield did("return permits");
}

async function* operate(store: SqliteJobStore, { job }: Scene): AsyncGenerator<Step, void> {
  await store.openBreaker("bank", WHY);
  yield did("open a breaker");
  await store.resetBreaker("bank", "ada");
  yield did("reset a breaker");
  const override = { lane: null, priority: 5, maxAttempts: null, timeoutMs: null };
  await store.overrideType("email", override, "ada");
  yield did("override a type");
  await store.removeFairness("general");
  yield did("remove the fairness of a lane");
  await store.removeLimit(ACME);
  yield did("remove a limit");
  await store.closeIntake(SMS, WHY);
  yield did("close an intake");
  const [refused] = await store.enqueue([job({ type: "sms" })]);
  assert.equal(refused?.status, "refused");
  yield did("refuse a job");
  await store.openIntake(SMS);
  yield did("open an intake");
  await store.setPayloadRule(SMS_RULE, { hardBytes: 100 }, WHY);
  yield did("set a payload rule");
  await store.removePayloadRule(SMS_RULE, WHY);
  yield did("remove a payload rule");
  await store.declarePayloadRules([{ ...SMS_RULE, rule: { hardBytes: 50 } }]);
  yield did("declare a payload rule");
  await store.removePayloadRule(SMS_RULE, WHY);
  yield did("remove a payload rule of code");
  await store.saveView({ tenant: null, name: "all", screen: "jobs", query: "", by: "ada" });
  yield did("save a view");
  await store.removeView({ tenant: null, name: "all" });
  yield did("remove a view");
  yield* changeMany(store, job);
  yield* govern(store, job);
}

/** Tenants, the audit, and a successor by hand. */
async function* govern(store: SqliteJobStore, job: Scene["job"]): AsyncGenerator<Step, void> {
  const quota = { waiting: 5, rate: null, payloadBytes: null };
  await store.setQuota("bolt", quota, WHY);
  yield did("set a quota");
  await store.removeQuota("bolt", WHY);
  yield did("remove a quota");
  await store.beginRemoval("gone", WHY);
  yield did("begin the removal of a tenant");
  await store.removeOfTenant("gone", 10);
  yield did("remove a tenant");
  const { id } = job({});
  await store.requestReprocess([{ id, changes: null }], WHY);
  yield did("ask for a reprocessing");
  await store.retryAsNew({ ...job({}), retryOf: id }, WHY);
  yield did("retry as a new job");
  await store.sealAudit(100);
  yield did("seal the audit");
}

/** Bulk operations: one is stopped, one fails. */
async function* changeMany(store: SqliteJobStore, job: Scene["job"]): AsyncGenerator<Step, void> {
  const waiting = job({});
  const { id } = waiting;
  await store.enqueue([waiting]);
  yield did("enqueue for an operation");
  await store.setPriority(id, 5);
  yield did("set a priority");
  await store.reschedule(id, { delayMs: HOUR_MS });
  yield did("reschedule");
  // The audit names operations, so that their ids must be those of the script.
  const [first, second] = [job({}), job({})].map((each) => newOperation({}, { id: each.id }));
  assert.ok(first && second);
  await store.startOperation(first);
  yield did("start an operation");
  const [held] = await store.claimOperations("runner");
  assert.ok(held, "no operation was claimed");
  yield did("claim an operation");
  const chunk = { runner: "runner", from: held.cursor, to: "next", items: [{ id }] };
  await store.applyChunk(first.id, { ...chunk, idempotencyMs: 0 });
  yield did("apply a chunk");
  await store.stopOperation(first.id, "ada");
  yield did("stop an operation");
  await store.startOperation(second);
  yield did("start another operation");
  await store.claimOperations("runner");
  yield did("claim another operation");
  await store.failOperation(second.id, "runner", { name: "Error", message: "no space" });
  yield did("fail an operation");
}
