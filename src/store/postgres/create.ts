/** Creates the store on PostgreSQL, with a replaceable clock, dice and migrations. */
import type { Clock, Dice } from "../../core/clock.ts";
import { MillraceError } from "../../core/errors.ts";
import { hasUnescapedPassword, ESCAPE_PASSWORD, shownAs } from "../../lib/url-password.ts";
import { shown } from "../../core/text.ts";
import { systemDice } from "../../lib/system.ts";
import type { Migration } from "../shared/migrations.ts";
import type { ThreadEntry } from "../types/jobs-and-runs.ts";
import { hasEnded, plainOptionsOf } from "./database/callers-pool.ts";
import { placeOf } from "./database/place.ts";
import type { PgPool } from "./database/pool.ts";
import { migrations } from "./database/migrations.gen.ts";
import { PostgresJobStore } from "./store.ts";
import { THREAD_MODULE as module } from "./thread-store.ts";

export { migrationScripts } from "./database/migrate.ts";
export { templates } from "./database/templates.gen.ts";
export { migrations };

/** Where the store is: a URL, or a `pg.Pool` of the application. */
export type PostgresOptions = PostgresConnection & {
  /** The schema of this installation, created when it does not exist. Default: `millrace`. */
  readonly schema?: string;
};

type PostgresConnection =
  | {
      /** Such as `postgres://user:password@host:5432/database`. */
      readonly url: string;
      /** Connections at most. Default: 10. */
      readonly poolSize?: number;
      readonly pool?: undefined;
    }
  | {
      /**
       * A `pg.Pool` of the application. It stays open when the store is closed. The heartbeat and
       * the listener connect by themselves, with the options of the pool.
       */
      readonly pool: PgPool;
      readonly url?: undefined;
      readonly poolSize?: undefined;
    };

/** What tests, simulations and commands replace. Without a clock, the server's clock decides. */
export interface PostgresPorts {
  readonly clock?: Clock;
  readonly dice?: Dice;
  readonly migrations?: readonly Migration[];
  /** False: opening refuses a schema without an installation, with STORE_MISSING. */
  readonly create?: boolean;
}

/** Connections of the heartbeat thread, which only renews leases. */
const THREAD_POOL_SIZE = 2;

/** Checks the options and creates a store that is not open yet. */
export function makePostgresStore(
  options: PostgresOptions,
  ports: PostgresPorts = {},
): PostgresJobStore {
  checkOptions(options);
  return new PostgresJobStore({
    address: options,
    place: placeOf(options),
    schema: options.schema ?? "millrace",
    clock: ports.clock ?? null,
    dice: ports.dice ?? systemDice,
    migrations: ports.migrations ?? migrations,
    create: ports.create ?? true,
    // Another thread cannot use a replaced clock.
    thread: ports.clock === undefined ? threadEntry(options) : null,
  });
}

/** Null: another thread cannot use this pool, nor connect in the same way. */
function threadEntry({ url, pool, schema }: PostgresOptions): ThreadEntry | null {
  const common = { schema, poolSize: THREAD_POOL_SIZE };
  const place = placeOf({ url });
  if (pool === undefined) return shownAs({ module, options: { url, ...common } }, place);
  const plain = plainOptionsOf(pool);
  if ("missing" in plain) return null;
  const isValid = (): boolean => !hasEnded(pool);
  return shownAs({ module, options: { connection: plain, ...common }, isValid }, place);
}

const KNOWN = ["url", "pool", "schema", "poolSize"];
/** PostgreSQL truncates longer names, and two installations might become one. */
const SCHEMA_BYTES_MAX = 63;
/** Ends the body of a function in the migrations, so a schema name must not contain it. */
const DOLLAR_QUOTE = /\$\w*\$/;

function checkOptions(options: PostgresOptions): void {
  if (typeof options !== "object" || options === null) {
    throw invalid(`postgresStore takes { url } or { pool }, not ${shown(options)}`);
  }
  const unknown = Object.keys(options).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) {
    throw invalid(`postgresStore has no option "${unknown}"; it has ${KNOWN.join(", ")}`);
  }
  const { url, pool, schema, poolSize } = options;
  if ((url === undefined) === (pool === undefined)) {
    throw invalid("postgresStore takes either a url or a pool");
  }
  // A wrong url is not shown: it may contain a password.
  if (url !== undefined && !(typeof url === "string" && /^postgres(ql)?:\/\//.test(url))) {
    throw invalid('url must begin with "postgres://"');
  }
  if (url !== undefined && URL.canParse(url) && hasUnescapedPassword(url))
    throw invalid(`url: ${ESCAPE_PASSWORD}`);
  if (pool !== undefined && typeof pool?.connect !== "function") {
    throw invalid(`pool must be a pool of the package "pg", not ${shown(pool)}`);
  }
  if (schema !== undefined) checkSchema(schema);
  if (poolSize !== undefined && !(Number.isInteger(poolSize) && poolSize >= 2)) {
    throw invalid(`poolSize must be a whole number of at least 2, not ${shown(poolSize)}`);
  }
}

/** Names that begin with `pg_` are reserved by the server. */
function checkSchema(schema: unknown): void {
  const isName =
    typeof schema === "string" && schema.isWellFormed() && /^(?!pg_)\P{Cc}+$/u.test(schema);
  if (!isName || DOLLAR_QUOTE.test(schema)) {
    throw invalid(`schema must be a valid name of a PostgreSQL schema, not ${shown(schema)}`);
  }
  if (Buffer.byteLength(schema) > SCHEMA_BYTES_MAX) {
    throw invalid(`schema must have at most ${SCHEMA_BYTES_MAX} bytes, not ${shown(schema)}`);
  }
}

function invalid(message: string): MillraceError {
  return new MillraceError("OPTION_INVALID", message);
}
