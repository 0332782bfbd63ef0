/**
 * The limit: the same tables and the same statements in a plain synchronous loop, without names,
 * leases' checks, promises or shared commits. What our store and our engine add shows against it.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { idBytes, idSource } from "../../src/core/ids.ts";
import { systemClock, systemDice } from "../../src/lib/system.ts";
import { migrations } from "../../src/store/sqlite/database/migrations.gen.ts";
import { queries, type QueryParameters } from "../../src/store/sqlite/database/queries.gen.ts";

type QueryName = keyof QueryParameters;
type Values = Readonly<Record<string, SQLInputValue>>;

/** All jobs of a lane. */
const WHOLE = { crashes: 0, prefetch: 0, after_priority: 0, after_rank: 0, after_key: 0, end: 2e9 };
const WORKER = new Uint8Array(16);
const SECRET = "0".repeat(32);

export class BareLoop {
  readonly #newId = idSource(systemClock, systemDice);
  readonly #database: DatabaseSync;
  readonly #statements = new Map<QueryName, StatementSync>();

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    this.#database.exec("PRAGMA cache_size = -16000; PRAGMA busy_timeout = 5000");
    const [made] = this.#database.prepare("SELECT count(*) AS n FROM sqlite_schema").all();
    if (made?.["n"] === 0) for (const { sql } of migrations) this.#database.exec(sql);
  }

  /** One commit: jobs, places, one event. */
  enqueue(payloads: readonly string[]): void {
    const now = Date.now();
    const place = { lane: 3, priority: 100, type: 2, tenant: 1, n: 1, tries: 0, crashes: 0 };
    this.#database.exec("BEGIN IMMEDIATE");
    const keys = payloads.map((payload) => {
      const id = idBytes(this.#newId());
      const job = { ...place, id, payload, run_at: now, created_at: now, max_attempts: 5 };
      const key = this.#run("insert_job", { ...job, flags: 0 }).lastInsertRowid;
      this.#run("insert_ready", { ...place, key, rank: now * 1000 });
      return Number(key);
    });
    this.#run("append_event", { kind: 1, at: now, keys: JSON.stringify(keys) });
    this.#database.exec("COMMIT");
  }

  /** Claims and settles one batch, in two commits. Answers the payloads; none when all is done. */
  turn(limit: number): string[] {
    const now = Date.now();
    this.#database.exec("BEGIN IMMEDIATE");
    const rows = this.#all("claim_candidates", { lane: 3, ...WHOLE, now, limit });
    if (rows.length === 0) {
      this.#database.exec("COMMIT");
      return [];
    }
    const keys = JSON.stringify(rows.map((row) => row["key"]));
    const ns = JSON.stringify(rows.map((row) => row["n"]));
    this.#run("delete_ready", { keys });
    const lease = { secret: SECRET, worker: WORKER, keys, ns, ranks: ns, starts: ns, alone: 0 };
    const fence = this.#run("insert_lease", { ...lease, claimed_at: now }).lastInsertRowid;
    const jobs = this.#all("claimed_jobs", { keys });
    this.#run("append_event", { kind: 2, at: now, keys });
    this.#database.exec("COMMIT");

    this.#database.exec("BEGIN IMMEDIATE");
    const times = { claimed_at: now, started_at: now, finished_at: now };
    const run = { ...times, tries: 1, crashes: 0, worker: WORKER, fence, outcome: 1, state: 4 };
    for (const row of rows) {
      this.#run("insert_attempt", { ...run, key: row["key"] ?? 0, n: row["n"] ?? 0 });
    }
    this.#run("delete_lease", { number: fence });
    this.#run("append_event", { kind: 3, at: now, keys });
    this.#database.exec("COMMIT");
    return jobs.flatMap(({ payload }) => (typeof payload === "string" ? [payload] : []));
  }

  close(): void {
    this.#database.close();
  }

  #run(name: QueryName, values: Values): { lastInsertRowid: number | bigint } {
    return this.#prepared(name).run(...positional(name, values));
  }

  #all(name: QueryName, values: Values): Record<string, SQLInputValue>[] {
    return this.#prepared(name).all(...positional(name, values));
  }

  #prepared(name: QueryName): StatementSync {
    const known = this.#statements.get(name);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(queries[name].text);
    this.#statements.set(name, statement);
    return statement;
  }
}

/** What a query takes and the loop does not care about is null. */
function positional(name: QueryName, values: Values): SQLInputValue[] {
  return queries[name].parameters.map((parameter) => values[parameter] ?? null);
}
