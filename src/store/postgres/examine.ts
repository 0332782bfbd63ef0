/**
 * examine: looks for what slows a server down as time goes by, and for what somebody has changed by
 * hand. Each finding names the statement that cures it.
 */
import { migrations } from "./queries.gen.ts";
import type { Session } from "./session.ts";
import { inSchema } from "./statements.ts";

/** Dead rows that are worth a word, when they outnumber the living. */
const DEAD_ROWS_MIN = 20_000;
/** A transaction that lasts longer keeps dead rows from being cleared for too long. */
const TRANSACTION_MS_MAX = 300_000;
/** Indexes that weigh this much, and more than their table several times over, are bloated. */
const INDEX_BYTES_MIN = 64 * 1024 ** 2;
const INDEX_FACTOR_MAX = 4;

export interface ServerFinding {
  readonly name: string;
  readonly found: string;
  readonly fix: string;
}

export interface ServerExamination {
  readonly version: string;
  readonly bytes: number;
  readonly deadRows: number;
  readonly findings: readonly ServerFinding[];
}

export async function examine(session: Session): Promise<ServerExamination> {
  const { read, schema } = session;
  const tables = await read.all("table_health", { schema });
  const oldest = await read.get("oldest_transaction", {});
  const objects = await read.all("schema_objects", { schema });
  const settings = await read.get("server_settings", {});
  return {
    version: settings?.version ?? "unknown",
    bytes: tables.reduce((sum, { bytes, index_bytes }) => sum + bytes + index_bytes, 0),
    deadRows: tables.reduce((sum, { dead }) => sum + dead, 0),
    findings: [
      ...oldTransaction(oldest),
      ...(settings?.autovacuum === false ? [NO_AUTOVACUUM] : []),
      ...tables.flatMap((table) => [...deadRows(schema, table), ...bloat(schema, table)]),
      ...drift(schema, new Map(objects.map(({ name, valid }) => [name, valid]))),
    ],
  };
}

const NO_AUTOVACUUM: ServerFinding = {
  name: "autovacuum",
  found: "it is switched off, so dead rows are never cleared",
  fix: "ALTER SYSTEM SET autovacuum = on; SELECT pg_reload_conf();",
};

interface Oldest {
  readonly pid: number;
  readonly state: string;
  readonly application: string;
  readonly ms: number;
}

function oldTransaction(oldest: Oldest | undefined): ServerFinding[] {
  if (oldest === undefined || oldest.ms < TRANSACTION_MS_MAX) return [];
  const { pid, state, application, ms } = oldest;
  const who = application === "" ? `pid ${pid}` : `pid ${pid} (${application})`;
  const minutes = Math.round(ms / 60_000);
  return [
    {
      name: "oldest transaction",
      found: `${who} is ${state} since ${minutes} minutes: no row that died since can be cleared`,
      fix: `SELECT pg_terminate_backend(${pid});`,
    },
  ];
}

interface Health {
  readonly name: string;
  readonly live: number;
  readonly dead: number;
  readonly bytes: number;
  readonly index_bytes: number;
  readonly vacuumed_ms: number | null;
}

function deadRows(schema: string, table: Health): ServerFinding[] {
  const { name, live, dead, vacuumed_ms: vacuumed } = table;
  if (dead < DEAD_ROWS_MIN || dead < live) return [];
  const last =
    vacuumed === null ? "never cleared" : `cleared ${Math.round(vacuumed / 60_000)} minutes ago`;
  return [
    {
      name: "dead rows",
      found: `${name} has ${dead} dead and ${live} living rows, and was ${last}`,
      fix: `VACUUM (ANALYZE) "${schema}"."${name}";`,
    },
  ];
}

function bloat(schema: string, { name, bytes, index_bytes }: Health): ServerFinding[] {
  if (index_bytes < INDEX_BYTES_MIN || index_bytes < bytes * INDEX_FACTOR_MAX) return [];
  const [indexMb, tableMb] = [index_bytes, bytes].map((each) => Math.round(each / 1024 ** 2));
  return [
    {
      name: "index size",
      found: `the indexes of ${name} take ${indexMb} MB, its rows ${tableMb} MB`,
      fix: `REINDEX TABLE CONCURRENTLY "${schema}"."${name}";`,
    },
  ];
}

const MADE = /^CREATE (TABLE|INDEX|VIEW|FUNCTION) (?:millrace\.)?(\w+)[^;]*;/gm;

/** What the migrations have made and is not there, or is of no use. */
function drift(schema: string, objects: ReadonlyMap<string, boolean>): ServerFinding[] {
  return migrations
    .flatMap(({ sql }) => [...sql.matchAll(MADE)])
    .flatMap(([text, kind = "", name = ""]): ServerFinding[] => {
      const valid = objects.get(name);
      if (valid === true) return [];
      const what = kind.toLowerCase();
      if (valid === false) {
        const fix = `REINDEX INDEX CONCURRENTLY "${schema}"."${name}";`;
        return [{ name: "schema", found: `the index ${name} is invalid`, fix }];
      }
      const isIndex = kind === "INDEX";
      const statement = inSchema(text.replaceAll(/\s+/g, " "), schema);
      return [
        {
          name: "schema",
          found: `the ${what} ${name} is missing`,
          fix: isIndex
            ? statement.replace("CREATE INDEX", "CREATE INDEX CONCURRENTLY")
            : `Somebody has dropped it. Run the statement that makes it: millrace migrate --print`,
        },
      ];
    });
}
