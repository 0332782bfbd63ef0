/** A script of declared types, services with their breakers, limits and intakes. */
import assert from "node:assert/strict";
import type { SqliteJobStore } from "../../src/store/sqlite/store.ts";
import { completed, declaration, workerInfo } from "../support/factories.ts";
import { settleItem, take, type Batch } from "../support/steps.ts";
import { did, type Life, type Scene, type Step } from "./steps.ts";

const HOUR_MS = 3_600_000;
const OPEN_MS = 60_000;
const ACME = { kind: "tenant", name: "acme" } as const;
const SMS = { kind: "type", name: "sms" } as const;
const WHY = { reason: "the bank is closed", by: "ada" } as const;

export const control: Life = { before, after };

async function* before(store: SqliteJobStore, scene: Scene): AsyncGenerator<Step, Batch> {
  const { worker, job } = scene;
  await store.register(workerInfo({ id: worker, process: worker, leaseMs: HOUR_MS }));
  yield did("register");
  await store.declareTypes(worker, [declaration({ type: "email", services: ["bank"] })]);
  yield did("declare the services of a type");
  await store.declareLimits([{ type: "email", concurrency: 5 }]);
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
}
