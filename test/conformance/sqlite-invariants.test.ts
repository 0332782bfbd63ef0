import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe } from "vitest";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { virtualClock } from "../support/virtual-clock.ts";
import { invariantsSuite, type Patient } from "./doctor/invariants.suite.ts";

describe("SQLite", () => {
  invariantsSuite(openPatient);
});

async function openPatient(): Promise<Patient> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-"));
  const path = join(folder, "millrace.db");
  const clock = virtualClock();
  const store = makeSqliteStore({ path }, { clock });
  await store.open();
  return {
    store,
    clock,
    feed: "event",
    list: (...numbers) => `'${JSON.stringify(numbers)}'`,
    keyAsList: "json_array(key)",
    startColumn: "starts",
    table: (name) => `millrace_${name}`,
    doctor: store,
    async plant(sql) {
      const database = new DatabaseSync(path, { timeout: 5_000 });
      database.exec(sql.replaceAll("millrace.", "millrace_"));
      database.close();
    },
    async examine() {
      const { findings, brokenInvariants } = await store.examine();
      return { findings, brokenInvariants };
    },
    async examineWithin(bounds) {
      const { findings, brokenInvariants, cutShort } = await store.examine({
        checkedBytes: 0,
        bounds,
      });
      return { findings, brokenInvariants, cutShort };
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}
