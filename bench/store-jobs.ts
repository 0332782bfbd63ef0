/** A store of ours without the engine, and jobs for it. */
import { idSource } from "../src/core/ids.ts";
import { systemClock, systemDice } from "../src/lib/system.ts";
import { makePostgresStore } from "../src/store/postgres/make.ts";
import { makeSqliteStore } from "../src/store/sqlite/make.ts";
import type { JobStore, NewJob, WorkerId } from "../src/store/store.ts";
import { workerInfo } from "../test/support/factories.ts";
import { newPayload } from "./system.ts";

const LEASE_MS = 600_000;

const newId = idSource(systemClock, systemDice);

export async function openStore(url: string): Promise<JobStore> {
  const isFile = url.startsWith("sqlite:");
  const path = url.slice("sqlite:".length);
  const store = isFile ? makeSqliteStore({ path }) : makePostgresStore({ url });
  await store.open();
  return store;
}

export async function joinWorker(store: JobStore): Promise<WorkerId> {
  const worker = newId();
  await store.join(workerInfo({ id: worker, leaseMs: LEASE_MS }));
  return worker;
}

export function newJobs(count: number, type = "email"): NewJob[] {
  return Array.from({ length: count }, () => newJob(type));
}

function newJob(type: string): NewJob {
  return {
    id: newId(),
    type,
    tenant: "default",
    lane: "general",
    category: null,
    priority: 100,
    due: { delayMs: 0 },
    maxAttempts: 5,
    timeoutMs: null,
    payload: JSON.stringify(newPayload()),
    payloadVersion: null,
    correlationId: null,
    parentId: null,
    retryOf: null,
    concurrencyKey: null,
    idempotency: null,
    dedup: null,
    webhookUrl: null,
    tags: {},
    createdBy: null,
    onOrphan: "retry",
    retryOwner: "queue",
  };
}
