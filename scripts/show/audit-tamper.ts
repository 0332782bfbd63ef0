/**
 * Changes of the audit past the store are found.
 *
 *     node --conditions=source scripts/show/audit-tamper.ts [--store sqlite|postgres]
 *         [--entries 400]
 *
 * A store gets entries of two tenants on two days, and seals them. Then each change is made to a
 * store of its own by raw SQL, as the owner of a database can, with the triggers out of the way.
 * Without a change nothing may be found, and every change must be.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { checkAudit } from "../../src/client/audit/verify.ts";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import type { JobStore } from "../../src/store/store.ts";
import { startPostgres, type PostgresServer } from "../../test/support/postgres.ts";
import { virtualClock, type VirtualClock } from "../../test/support/virtual-clock.ts";
import { table } from "../lib/table.ts";
import { Places } from "./lib/databases.ts";
import { numbersAndStores, type StoreKind } from "./lib/options.ts";

const DAY_MS = 86_400_000;
const TENANTS = ["acme", "umbra"] as const;

/** `@first`, `@middle`, `@next` and `@last` are ids of entries of one tenant. */
const CHANGES: readonly (readonly [string, string])[] = [
  ["nothing", ""],
  ["the first entry is removed", "DELETE FROM {audit} WHERE id = @first"],
  ["a middle entry is removed", "DELETE FROM {audit} WHERE id = @middle"],
  ["the last entry is removed", "DELETE FROM {audit} WHERE id = @last"],
  [
    "the first entry and its seal are removed",
    "DELETE FROM {audit} WHERE id = @first; DELETE FROM {audit_seal} WHERE audit_id = @first",
  ],
  [
    "a middle entry and its seal are removed",
    "DELETE FROM {audit} WHERE id = @middle; DELETE FROM {audit_seal} WHERE audit_id = @middle",
  ],
  ["an entry is edited", "UPDATE {audit} SET actor = 'eve' WHERE id = @middle"],
  [
    "two entries are swapped",
    "UPDATE {audit} SET id = -1 WHERE id = @middle;" +
      " UPDATE {audit} SET id = @middle WHERE id = @next;" +
      " UPDATE {audit} SET id = @next WHERE id = -1",
  ],
  [
    "an entry is inserted",
    "INSERT INTO {audit} (id, at, tenant, name, subject_kind, subject)" +
      " SELECT -1, at, tenant, name, subject_kind, subject FROM {audit} WHERE id = @first",
  ],
  [
    "an entry is inserted with a forged seal",
    "INSERT INTO {audit} (id, at, tenant, name, subject_kind, subject)" +
      " SELECT -1, at, tenant, name, subject_kind, subject FROM {audit} WHERE id = @first;" +
      " INSERT INTO {audit_seal} (tenant, day, position, audit_id, previous, hash, sealed_at)" +
      " SELECT tenant, day, 99999, -1, hash, hash, sealed_at" +
      " FROM {audit_seal} WHERE audit_id = @middle",
  ],
  ["a seal is removed", "DELETE FROM {audit_seal} WHERE audit_id = @middle"],
  ["a seal is altered", "UPDATE {audit_seal} SET hash = previous WHERE audit_id = @middle"],
];

interface Opened extends AsyncDisposable {
  readonly store: JobStore;
  readonly clock: VirtualClock;
  run(sql: string): Promise<void>;
}

async function openFile(places: Places, name: string): Promise<Opened> {
  const clock = virtualClock();
  const path = join(places.folder, `${name}.db`);
  const store = makeSqliteStore({ path }, { clock });
  await store.open();
  const raw = new DatabaseSync(path);
  const triggers = ["audit_never_changes", "audit_seal_never_changes", "audit_stays"];
  return {
    store,
    clock,
    async run(sql) {
      for (const trigger of [...triggers, "audit_seal_stays"]) {
        raw.exec(`DROP TRIGGER millrace_${trigger}`);
      }
      raw.exec(sql.replaceAll(/\{(\w+)\}/g, "millrace_$1"));
    },
    async [Symbol.asyncDispose]() {
      raw.close();
      await store.close();
    },
  };
}

async function openSchema({ url }: PostgresServer, schema: string): Promise<Opened> {
  const clock = virtualClock();
  const store = makePostgresStore({ url, schema }, { clock });
  await store.open();
  const raw = new Client({ connectionString: url });
  await raw.connect();
  return {
    store,
    clock,
    async run(sql) {
      await raw.query("SET session_replication_role = replica");
      await raw.query(sql.replaceAll(/\{(\w+)\}/g, `"${schema}".$1`));
    },
    async [Symbol.asyncDispose]() {
      await raw.end();
      await store.close();
    },
  };
}

/** Answers the ids that the changes name. */
async function fill(
  { store, clock }: Opened,
  entries: number,
): Promise<Readonly<Record<string, number>>> {
  for (let day = 0; day < 2; day += 1) {
    for (let turn = 0; turn < entries / 2; turn += 1) {
      const name = TENANTS[turn % TENANTS.length] ?? "acme";
      await store.pause({ kind: "tenant", name }, { by: "ada", reason: `turn ${turn}` });
      await clock.advance(1_000);
    }
    while ((await store.sealAudit(100)) > 0);
    await clock.advance(DAY_MS);
  }
  const found = await store.audits({ tenant: "acme" }, { limit: 1_000, oldestFirst: true });
  const ids = found.map(({ id }) => id);
  const half = Math.floor(ids.length / 4);
  const [first = 0, middle = 0, next = 0] = [ids[0], ids[half], ids[half + 1]];
  return { first, middle, next, last: ids.at(-1) ?? 0 };
}

async function show(kind: StoreKind, entries: number): Promise<boolean> {
  await using places = await Places.open("sqlite");
  await using server = kind === "postgres" ? await startPostgres({ durable: false }) : null;
  const rows: string[][] = [];
  let isRight = true;
  for (const [index, [change, sql]] of CHANGES.entries()) {
    const name = `tamper_${index}`;
    await using db = await (server === null ? openFile(places, name) : openSchema(server, name));
    const ids = await fill(db, entries);
    const named = sql.replaceAll(/@(\w+)/g, (_, id: string) => String(ids[id]));
    if (named !== "") await db.run(named);
    const { findings, sealed } = await checkAudit(db.store, {});
    const kinds = [...new Set(findings.map((finding) => finding.kind))].join(", ");
    isRight &&= findings.length > 0 === (sql !== "");
    rows.push([change, String(sealed), findings.length === 0 ? "nothing" : kinds]);
  }
  console.log(`\n${kind}, ${entries} entries of two tenants on two days`);
  for (const line of table(["change", "seals", "found"], rows)) console.log(line);
  return isRight;
}

const { stores, entries } = numbersAndStores("audit-tamper.ts", { entries: 400 });
for (const kind of stores) if (!(await show(kind, entries))) process.exitCode = 1;
console.log(process.exitCode === 1 ? "\nA change was missed." : "\nEvery change was found.");
