/** A store of ours without the engine, and jobs for it. */
import { idSource } from "../src/core/ids.ts";
import { systemClock, systemDice } from "../src/lib/system.ts";
import { makePostgresStore } from "../src/store/postgres/create.ts";
import { makeSqliteStore } from "../src/store/sqlite/create.ts";
import type { JobStore } from "../src/store/store.ts";
import type { NewJob, WorkerId } from "../src/store/types/jobs-and-runs.ts";
import { newJob, workerInfo } from "../test/support/factories.ts";
import { newPayload } from "./contestants/system.ts";

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
  await store.register(workerInfo({ id: worker, leaseMs: LEASE_MS }));
  return worker;
}

export function newJobs(count: number, type = "email"): NewJob[] {
  return Array.from({ length: count }, () =>
    newJob({ id: newId(), type, payload: JSON.stringify(newPayload()) }),
  );
}
