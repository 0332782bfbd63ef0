/**
 * Settings of a PostgreSQL server and of pools: what happens to jobs, and what is said. Each row is
 * executed on a real server.
 *
 *     node --conditions=source scripts/show/surroundings.ts [--only WORD]
 */
import { parseArgs } from "node:util";
import { connect, startPostgres, type PostgresServer } from "../../test/support/postgres.ts";
import { throughOwnPooler, throughPgBouncer } from "./lib/surroundings/pooler.ts";
import { crash, sail, type Outcome, type Scene } from "./lib/surroundings/voyage.ts";
import { onStage } from "./lib/run-stages.ts";

const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });

const POOLERS = [
  ["pooler in transaction mode, our own", throughOwnPooler],
  [
    "pooler in transaction mode, PgBouncer",
    (server: string) => throughPgBouncer(server, "transaction"),
  ],
  ["pooler in session mode, PgBouncer", (server: string) => throughPgBouncer(server, "session")],
] as const;

interface Row {
  readonly setting: string;
  /** What is run before and after the row, on the server. */
  readonly set?: string;
  readonly reset?: string;
  readonly scene?: Omit<Scene, "url" | "schema">;
  readonly crashes?: boolean;
  /** The setting may make work impossible, and the row must say so. */
  readonly mayRefuse?: boolean;
}

const ROWS: readonly Row[] = [
  { setting: "none" },
  { ...byRole("synchronous_commit", "off"), crashes: true },
  { ...byDatabase("synchronous_commit", "off"), crashes: true },
  { ...byServer("synchronous_commit", "off"), crashes: true },
  byServer("fsync", "off"),
  byServer("full_page_writes", "off"),
  byRole("statement_timeout", "'1s'"),
  { ...byRole("statement_timeout", "'20ms'"), mayRefuse: true },
  byRole("idle_in_transaction_session_timeout", "'20ms'"),
  byRole("idle_session_timeout", "'500ms'"),
  byRole("lock_timeout", "'20ms'"),
  byRole("default_transaction_isolation", "'repeatable read'"),
  byRole("default_transaction_isolation", "'serializable'"),
  { ...byRole("default_transaction_read_only", "on"), mayRefuse: true },
  byRole("search_path", "''"),
  {
    ...byRole("search_path", "odd, pg_catalog"),
    set: `CREATE SCHEMA odd; CREATE TABLE odd.job (key text); CREATE TABLE odd.ready ();
      ALTER ROLE postgres SET search_path = odd, pg_catalog`,
    reset: "ALTER ROLE postgres RESET search_path; DROP SCHEMA odd CASCADE",
  },
  byRole("TimeZone", "'Pacific/Apia'"),
  byRole("DateStyle", "'SQL, DMY'"),
  byRole("IntervalStyle", "'iso_8601'"),
  byRole("standard_conforming_strings", "off"),
  byRole("jit_above_cost", "0"),
  { setting: "pool of 1", scene: { pool: { max: 1 } } },
  { setting: "pool of 1, held by handlers", scene: { pool: { max: 1 }, holds: true } },
  { setting: "pool of 2, held by handlers", scene: { pool: { max: 2 }, holds: true } },
  {
    setting: "pool of 2 with a password function, held by handlers",
    scene: { pool: { max: 2, password: async () => "unused" }, holds: true },
  },
];

await onStage(async () => {
  await using server = await startPostgres({ settings: ["wal_writer_delay=10s"] });
  const chosen = ROWS.filter(({ setting }) => setting.includes(values.only));
  let sound = true;
  for (const [index, row] of chosen.entries()) {
    const outcome = await play(server, row, `row_${index}`);
    const isTold = row.mayRefuse === true && outcome.said.length > 0;
    const isExpected = outcome.isSound || isTold;
    if (!isExpected) sound = false;
    print(row.setting, outcome, isExpected);
  }
  for (const [setting, sailThrough] of POOLERS) {
    if (!setting.includes(values.only)) continue;
    const outcome = await sailThrough(server.url);
    if (!outcome.isSound) sound = false;
    print(setting, outcome, outcome.isSound);
  }
  return { sound };
});

async function play(server: PostgresServer, row: Row, schema: string): Promise<Outcome> {
  const scene = { ...row.scene, url: server.url, schema };
  await tell(server, row.set);
  try {
    return await (row.crashes === true ? crash(server, scene) : sail(scene));
  } finally {
    await tell(server, row.reset);
  }
}

/** Statement by statement: ALTER SYSTEM allows no transaction. */
async function tell(server: PostgresServer, sql = ""): Promise<void> {
  const client = await connect(server.url);
  await client.query("SET default_transaction_read_only = off");
  for (const statement of sql.split(";")) await client.query(statement);
  await client.end();
}

function byRole(name: string, value: string): Row {
  return {
    setting: `${name} = ${value}, role`,
    set: `ALTER ROLE postgres SET ${name} = ${value}`,
    reset: `ALTER ROLE postgres RESET ${name}`,
  };
}

function byDatabase(name: string, value: string): Row {
  return {
    setting: `${name} = ${value}, database`,
    set: `ALTER DATABASE postgres SET ${name} = ${value}`,
    reset: `ALTER DATABASE postgres RESET ${name}`,
  };
}

function byServer(name: string, value: string): Row {
  return {
    setting: `${name} = ${value}, server`,
    set: `ALTER SYSTEM SET ${name} = ${value}; SELECT pg_reload_conf(); SELECT pg_sleep(0.2)`,
    reset: `ALTER SYSTEM RESET ${name}; SELECT pg_reload_conf(); SELECT pg_sleep(0.2)`,
  };
}

function print(setting: string, { happened, said }: Outcome, isExpected: boolean): void {
  console.log(`${isExpected ? " " : "!"} ${setting.padEnd(52)} ${happened}`);
  for (const line of said) console.log(`      said: ${line}`);
}
