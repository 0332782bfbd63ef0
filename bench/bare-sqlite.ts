/**
 * The limit: the same tables and the same statements in a plain synchronous loop, without names,
 * leases' checks, promises or shared commits. What our store adds shows against it.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { idBytes } from "../src/core/ids.ts";
import type { JobId } from "../src/core/job.ts";
import { migrations, queries, type QueryParameters } from "../src/store/sqlite/queries.gen.ts";
import { PAYLOAD } from "./payload.ts";

const WORKER = new Uint8Array(16);
const SECRET = "0123456789abcdef";

export class BareLoop {
  readonly #database: DatabaseSync;
  readonly #job: StatementSync;
  readonly #ready: StatementSync;
  readonly #event: StatementSync;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    this.#database.exec("PRAGMA cache_size = -16000");
    for (const { sql } of migrations) this.#database.exec(sql);
    this.#job = this.#prepare("insert_job");
    this.#ready = this.#prepare("insert_ready");
    this.#event = this.#prepare("append_event");
  }

  /** One commit: jobs, places, one event. */
  enqueue(ids: readonly JobId[]): void {
    const now = Date.now();
    this.#database.exec("BEGIN IMMEDIATE");
    for (const id of ids) {
      const row = [idBytes(id), 2, 1, 3, null, 100, now, 5, null, PAYLOAD, null, null, null, null];
      const rest = [null, null, null, null, null, null, now, 0];
      const key = Number(this.#job.run(...row, ...rest).lastInsertRowid);
      this.#ready.run(3, 100, now * 1000, key, 2, 1, null, 1, 0, 0);
    }
    this.#event.run(1, now, JSON.stringify(ids));
    this.#database.exec("COMMIT");
  }

  /** Claims and settles until nothing is left: two commits per batch. */
  drain(batch: number): void {
    const find = this.#prepare("claim_candidates");
    const take = this.#prepare("delete_ready");
    const lease = this.#prepare("insert_lease");
    const read = this.#prepare("claimed_jobs");
    const end = this.#prepare("insert_attempt");
    const drop = this.#prepare("delete_lease");
    const values = { lane: 3, types: null, tenants: null, buffer: 0, limit: batch };
    for (;;) {
      const now = Date.now();
      this.#database.exec("BEGIN IMMEDIATE");
      const rows = find.all(...bind("claim_candidates", { ...values, now }));
      const keys = JSON.stringify(rows.map((row) => row["key"]));
      if (rows.length === 0) break;
      take.run(keys);
      const ns = JSON.stringify(rows.map((row) => row["n"]));
      const number = lease.run(SECRET, WORKER, keys, ns, ns, ns, now).lastInsertRowid;
      read.all(keys);
      this.#event.run(2, now, keys);
      this.#database.exec("COMMIT");

      this.#database.exec("BEGIN IMMEDIATE");
      for (const row of rows) {
        const run = [row["key"] ?? 0, row["n"] ?? 0, 1, 0, WORKER, number, now, now, now];
        end.run(...run, 1, 4, null, null, null, null, null);
      }
      drop.run(number);
      this.#event.run(3, now, keys);
      this.#database.exec("COMMIT");
    }
    this.#database.exec("COMMIT");
  }

  close(): void {
    this.#database.close();
  }

  #prepare(name: keyof QueryParameters): StatementSync {
    return this.#database.prepare(queries[name].text);
  }
}

function bind(name: keyof QueryParameters, values: Record<string, number | null>) {
  return queries[name].parameters.map((parameter) => values[parameter] ?? null);
}
