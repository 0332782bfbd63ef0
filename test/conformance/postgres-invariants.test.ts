import { afterAll, beforeAll, describe } from "vitest";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { openPostgres } from "../support/stores.ts";
import { invariantsSuite, type Patient } from "./doctor/invariants.suite.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

describe("PostgreSQL", () => {
  invariantsSuite(openPatient);
});

async function openPatient(): Promise<Patient> {
  const handles = await openPostgres(server, "shared");
  const { store, clock, pool, schema } = handles;
  const doctor = makePostgresStore({ pool, schema }, { clock });
  await doctor.open();
  return {
    store,
    clock,
    feed: "event_outbox",
    list: (...numbers) => `'{${numbers.map((number) => number ?? "NULL").join()}}'`,
    doctor,
    keyAsList: "ARRAY[key]",
    startColumn: "started_at",
    table: (name) => `"${schema}"."${name}"`,
    async plant(sql) {
      await pool.query(sql.replaceAll("millrace.", `"${schema}".`));
    },
    async examine() {
      // Transactions of other tests may be old, and tables of former ones full of dead rows.
      const limits = { transactionMs: Infinity, deadRows: Infinity, isDeep: true };
      const { findings, brokenInvariants } = await doctor.examine(limits);
      return { findings: withoutDisk(findings), brokenInvariants };
    },
    async examineWithin(bounds) {
      const limits = { transactionMs: Infinity, deadRows: Infinity, bounds };
      const { findings, brokenInvariants, cutShort } = await doctor.examine(limits);
      return { findings: withoutDisk(findings), brokenInvariants, cutShort };
    },
    async [Symbol.asyncDispose]() {
      await doctor.close();
      await handles[Symbol.asyncDispose]();
    },
  };
}

/** The server of the tests does not wait for the disk. */
function withoutDisk<Finding extends { readonly name: string }>(
  findings: readonly Finding[],
): readonly Finding[] {
  return findings.filter(({ name }) => !["fsync", "full_page_writes"].includes(name));
}
