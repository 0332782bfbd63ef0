/** Three handles of one database, as three processes have, and what the database holds. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Pool } from "pg";
import type { Clock, Dice } from "../../../../src/core/clock.ts";
import { makePostgresStore } from "../../../../src/store/postgres/create.ts";
import { makeSqliteStore } from "../../../../src/store/sqlite/create.ts";
import type { JobStore } from "../../../../src/store/store.ts";
import type { PostgresServer } from "../../../../test/support/postgres.ts";

const SCHEDULERS = 3;
/** Memory where the system offers it: the disk is not the subject. */
const ROOT = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export interface Ports {
  readonly clock: Clock;
  readonly dice: Dice;
}

export interface Handles extends AsyncDisposable {
  readonly stores: readonly JobStore[];
  /** How many jobs each slot of each schedule has, from the table itself. */
  jobs(): Promise<ReadonlyMap<string, number>>;
  /** Plants a fault: the last slots of all schedules are due again. */
  forgetTicks(): Promise<void>;
}

export async function sqliteHandles(ports: Ports): Promise<Handles> {
  const folder = mkdtempSync(join(ROOT, "millrace-cron-"));
  const path = join(folder, "jobs.db");
  const stores = await opened(() => makeSqliteStore({ path }, ports));
  const database = new DatabaseSync(path);
  return {
    stores,
    async jobs() {
      const rows = database.prepare(
        "SELECT payload, run_at AS slot, count(*) AS jobs FROM millrace_job GROUP BY 1, 2",
      );
      return countsOf(rows.all());
    },
    async forgetTicks() {
      database.exec("UPDATE millrace_schedule SET next_slot = last_slot, last_slot = NULL");
      database.exec("DELETE FROM millrace_schedule_tick");
    },
    async [Symbol.asyncDispose]() {
      database.close();
      for (const store of stores) await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export async function postgresHandles(
  { url }: PostgresServer,
  schema: string,
  ports: Ports,
): Promise<Handles> {
  const pool = new Pool({ connectionString: url, max: SCHEDULERS + 1, allowExitOnIdle: true });
  // The server may stop before the last idle connection has said good-bye.
  pool.on("error", () => {});
  const stores = await opened(() => makePostgresStore({ pool, schema }, ports));
  return {
    stores,
    async jobs() {
      const { rows } = await pool.query(
        `SELECT payload::text, extract(epoch FROM run_at) * 1000 AS slot, count(*) AS jobs
         FROM ${schema}.job GROUP BY 1, 2`,
      );
      return countsOf(rows);
    },
    async forgetTicks() {
      await pool.query(`UPDATE ${schema}.schedule SET next_slot = last_slot, last_slot = NULL`);
      await pool.query(`DELETE FROM ${schema}.schedule_tick`);
    },
    async [Symbol.asyncDispose]() {
      for (const store of stores) await store.close();
      await pool.query(`DROP SCHEMA ${schema} CASCADE`);
      await pool.end();
    },
  };
}

async function opened(make: () => JobStore): Promise<readonly JobStore[]> {
  const stores = Array.from({ length: SCHEDULERS }, make);
  for (const store of stores) await store.open();
  return stores;
}

/** The payload of a job is the name of its schedule. */
function countsOf(rows: readonly Record<string, unknown>[]): ReadonlyMap<string, number> {
  return new Map(
    rows.map(({ payload, slot, jobs }) => [
      `${JSON.parse(String(payload))} ${Number(slot)}`,
      Number(jobs),
    ]),
  );
}
