/** What `millrace doctor` says when a limit of time cuts some of its checks. */
import { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { contentChecks } from "../../../src/cli/commands/doctor-content.ts";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import {
  isTimeout,
  NotRolledBack,
  storeError,
} from "../../../src/store/postgres/database/errors.ts";
import { queries } from "../../../src/store/postgres/database/queries.gen.ts";
import { inSchema } from "../../../src/store/postgres/database/statements.ts";
import { type } from "../../cli/command-line.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres.ts";
import { add, joinWorker } from "../../support/steps.ts";
import { CANCELLED, struckPool } from "../../support/struck-pool.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

test("doctor names a check that the statement_timeout has cut, and ends the others", async () => {
  const schema = "cut";
  await using patient = await openPatient(schema);
  await add(patient.store, {});
  const pool = new Pool({ connectionString: server.url, max: 1 });
  await pool.query(
    "CREATE ROLE hasty LOGIN SUPERUSER; ALTER ROLE hasty SET statement_timeout = '2s'",
  );
  const url = new URL(server.url);
  url.username = "hasty";
  url.searchParams.set("schema", schema);
  await pool.query(`BEGIN; LOCK TABLE "${schema}".tag IN ACCESS EXCLUSIVE MODE`);

  const { code, out } = await type("doctor", "--deep", "--db", url.href);
  await pool.query("ROLLBACK");
  await pool.end();

  expect(out).toMatch(/^FINDING {2}tag without job: not finished within \d+ s$/m);
  expect(out).toMatch(/^ok {7}invariants: \d+ hold$/m);
  expect(out).toMatch(/^ok {7}workers: 0 known, none silent$/m);
  expect(out).not.toContain("miscount");
  expect(code).toBe(1);
});

test("the comparison of queued jobs with workers is named, and the other checks stay", async () => {
  await using patient = await openPatient("struck");
  await add(patient.store, {});
  await joinWorker(patient.store);
  const text = inSchema(queries.count_groups.text, "struck");

  patient.strike((sent) => (sent.text === text ? { text: CANCELLED } : sent));
  const checks = await contentChecks(patient.store, true);

  const found = checks.map((check) => `${check.name}: ${check.found}`);
  expect(found).toContainEqual(
    expect.stringMatching(/^jobs that no worker takes: not finished within \d+/),
  );
  expect(found).toContainEqual("workers: 1 known, none silent");
  expect(found).toContainEqual("pauses: 0, holding no jobs");
  expect(checks.filter(({ fix }) => fix !== null)).toHaveLength(1);
});

test("sizes that cannot be read are named, and the other checks stay", async () => {
  await using patient = await openPatient("unsized");
  const text = inSchema(queries.examined_tables.text, "unsized");

  patient.strike((sent) => (sent.text === text ? { text: CANCELLED } : sent));
  const { unfinished, version } = await patient.store.examine();

  expect(unfinished.map(({ check }) => check)).toEqual(["sizes of tables"]);
  expect(version).not.toBe("unknown");
});

test.each([
  ["the server is silent", new Error("Query read timeout"), true],
  ["the server cancels", Object.assign(new Error("canceled"), { code: "57014" }), true],
  ["a lock is not released", Object.assign(new Error("locked"), { code: "55P03" }), true],
  ["the disk is full", Object.assign(new Error("full"), { code: "53100" }), false],
])("an error says whether a limit of time has ended the statement: %s", (_, error, timedOut) => {
  expect(storeError(error, "PostgreSQL")).toMatchObject({ details: { timedOut } });
});

test("a limit of time is known as such when the connection could not roll back", () => {
  const cancelled = Object.assign(new Error("canceled"), { code: "57014" });

  expect(isTimeout(new NotRolledBack(cancelled))).toBe(true);
});

async function openPatient(schema: string) {
  const { pool, strike } = struckPool(server.url, 4);
  const store = makePostgresStore({ pool, schema });
  await store.open();
  return {
    store,
    strike,
    async [Symbol.asyncDispose](): Promise<void> {
      strike(null);
      await store.close();
      await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
      await pool.end();
    },
  };
}
