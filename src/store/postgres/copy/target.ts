/**
 * A schema as the target of a copy. Until the copy is finished, no store can open the schema, and a
 * store that had opened it before cannot write. Each batch is written in one transaction with the
 * progress, so that a copy resumes where it was interrupted.
 */
import { MillraceError } from "../../../core/errors.ts";
import { FINISHED } from "../../shared/copy/ends.ts";
import type { CopiedTable } from "../../shared/copy/tables.ts";
import type {
  CopyTarget,
  Counters,
  CopyProgress,
  KeyRange,
  TargetState,
} from "../../shared/copy/ends.ts";
import { newerError, newestOf } from "../../shared/migrations.ts";
import {
  ANALYZE,
  deleteOf,
  EMPTY,
  GUARD,
  insertOf,
  keysOf,
  OCCUPIED,
  selectOf,
  UNGUARD,
} from "./statements.ts";
import { CopySession, type SendQuery } from "./session.ts";
import { makePostgresStore } from "../create.ts";
import { Pool } from "../database/pool.ts";
import { migrations } from "../database/migrations.gen.ts";
import { needsOwner } from "../rights/access.ts";
import { accessOf, inSchema } from "../database/statements.ts";

/** Rows of the first fetch; later fetches have about {@link FETCH_CHARS} characters. */
const FETCH_ROWS_FIRST = 50;
const FETCH_ROWS_MAX = 2_000;
const FETCH_CHARS = 2_000_000;

interface TargetOptions {
  readonly url: string;
  readonly schema: string;
  /** For messages, without a password. */
  readonly place: string;
}

/** Connects on first use. */
export async function openCopyTarget(options: TargetOptions): Promise<CopyTarget> {
  return new PostgresTarget(options, await Pool.make({ url: options.url, poolSize: 3 }));
}

class PostgresTarget implements CopyTarget {
  readonly place: string;
  readonly #options: TargetOptions;
  readonly #pool: Pool;
  readonly #session: CopySession;
  #progress: CopyProgress | null = null;
  #unlock: () => Promise<void> = async () => {};

  constructor(options: TargetOptions, pool: Pool) {
    this.place = options.place;
    this.#options = options;
    this.#pool = pool;
    this.#session = new CopySession({ ...options, pool });
  }

  async readState(): Promise<TargetState> {
    const { schema } = this.#options;
    const access = await this.#pool.withConnection((client) => accessOf(client, schema));
    if (access === "routines") throw needsOwner(schema, "millrace copy");
    return this.#state();
  }

  async begin(first: CopyProgress): Promise<CopyProgress> {
    await this.#lock();
    const state = await this.readState();
    if (state.kind === "free") {
      await this.#install();
      await this.#session.transaction("on", (ask) => this.#writeMoveRecord(ask, first));
    } else if (state.kind === "occupied") throw this.#occupied(state.why);
    this.#progress = state.kind === "free" ? first : state.progress;
    return this.#progress;
  }

  async put(
    table: CopiedTable,
    { lines, without }: Parameters<CopyTarget["put"]>[1],
    progress: CopyProgress,
  ): Promise<void> {
    await this.#session.transaction("off", async (ask) => {
      if (without.length > 0) await ask(deleteOf(table, without));
      if (lines.length > 0) await ask(insertOf(table), [`[${lines.join()}]`]);
      await this.#advance(ask, progress);
    });
    this.#progress = progress;
  }

  async keys(table: CopiedTable, range: KeyRange): Promise<string> {
    const { rows } = await this.#session.ask(keysOf(table, range));
    return rows[0].keys;
  }

  async setCounters(counters: Counters): Promise<void> {
    await this.#session.transaction("on", async (ask) => {
      for (const [table, column, value] of sequences(counters)) {
        const text = `SELECT setval(pg_get_serial_sequence($1, $2), $3) WHERE $3 > 0`;
        const name = inSchema(`millrace.${table}`, this.#options.schema);
        await ask(text, [name, column, value]);
      }
      await ask("UPDATE millrace.feed_head SET position = $1", [counters.event]);
    });
  }

  async counters(): Promise<Counters> {
    const none = { job: 0, lease: 0, name: 0, event: 0, audit: 0 };
    const columns = sequences(none).map(([table, column]) => {
      const sequence = `millrace.${table}_${column}_seq`;
      return `(SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ${sequence}) AS ${table}`;
    });
    const head = "(SELECT position FROM millrace.feed_head) AS event";
    const { rows } = await this.#session.ask(`SELECT ${columns.join(", ")}, ${head}`);
    const { job, lease, event, interned_name: name, audit } = rows[0];
    // The sequence of names starts after the name that every installation has.
    return { job, lease, event, name: Math.max(name, 1), audit };
  }

  async *lines(table: CopiedTable): AsyncGenerator<readonly string[]> {
    const reading = await this.#session.open(
      `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
       DECLARE rows NO SCROLL CURSOR FOR ${selectOf(table)}`,
    );
    try {
      for (let count = FETCH_ROWS_FIRST; ;) {
        const { rows } = await reading.ask(`FETCH ${count} FROM rows`);
        if (rows.length === 0) return;
        const lines = rows.map((row) => JSON.stringify(row));
        yield lines;
        const characters = lines.reduce((sum, line) => sum + line.length, 0) / lines.length;
        count = Math.min(Math.max(1, Math.floor(FETCH_CHARS / characters)), FETCH_ROWS_MAX);
      }
    } finally {
      await reading.end();
    }
  }

  async finish(): Promise<void> {
    const { copy, from } = this.#known();
    await this.#session.transaction("on", async (ask) => {
      await ask(UNGUARD);
      await ask("DELETE FROM millrace.meta WHERE name = 'copy'");
      const done: CopyProgress = { copy, from, step: FINISHED, after: null };
      const text = `INSERT INTO millrace.meta (name, value) VALUES ('copied', $1)
                    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
      await ask(text, [JSON.stringify(done)]);
    });
    await this.#session.ask(ANALYZE);
  }

  async abandon(): Promise<void> {
    await this.#lock();
    const state = await this.readState();
    if (state.kind === "finished") {
      throw this.#occupied("the copy is finished, and the target may be in use");
    }
    if (state.kind !== "unfinished") return;
    await this.#session.transaction("on", async (ask) => {
      await ask(EMPTY);
      await ask(UNGUARD);
      await ask("DELETE FROM millrace.meta WHERE name = 'copy'");
    });
  }

  async close(): Promise<void> {
    await this.#unlock();
    await this.#pool.end();
  }

  /** Opening a store creates the tables. */
  async #install(): Promise<void> {
    const { url, schema } = this.#options;
    const store = makePostgresStore({ url, schema });
    await store.open();
    await store.close();
  }

  /** Creates the triggers first: their lock waits for writers, whose rows are then visible. */
  async #writeMoveRecord(ask: SendQuery, first: CopyProgress): Promise<void> {
    await ask(GUARD);
    const { rows } = await ask(OCCUPIED);
    if (rows.length > 0) throw this.#occupied(`there are rows in ${namesOf(rows)}`);
    const text = "INSERT INTO millrace.meta (name, value) VALUES ('copy', $1)";
    await ask(text, [JSON.stringify(first)]);
  }

  async #state(): Promise<TargetState> {
    const { ask } = this.#session;
    const { schema } = this.#options;
    const text = `SELECT relname AS name FROM pg_class
                  WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
                    AND relkind IN ('r', 'p', 'v', 'm', 'f')`;
    const { rows: tables } = await ask(text, [schema]);
    if (tables.length === 0) return { kind: "free" };
    if (!tables.some(({ name }) => name === "meta")) {
      return { kind: "occupied", why: `it has tables of another application: ${namesOf(tables)}` };
    }
    const { rows } = await ask("SELECT name, value FROM millrace.meta");
    const meta = new Map<string, string>(rows.map(({ name, value }) => [name, value]));
    const version = Number(meta.get("schema"));
    if (version > newestOf(migrations)) throw newerError(migrations, version);
    for (const [name, kind] of [
      ["copy", "unfinished"],
      ["copied", "finished"],
    ] as const) {
      const found = meta.get(name);
      if (found !== undefined) return { kind, progress: JSON.parse(found) };
    }
    // Tables of an older release are migrated before they are checked.
    if (version < newestOf(migrations)) return { kind: "free" };
    const { rows: occupied } = await ask(OCCUPIED);
    if (occupied.length === 0) return { kind: "free" };
    return { kind: "occupied", why: `there are rows in ${namesOf(occupied)}` };
  }

  #occupied(why: string): MillraceError {
    return new MillraceError("STORE_OCCUPIED", `${this.place} cannot be copied into: ${why}`);
  }

  /** The lock is held until its transaction ends, at the latest with this process. */
  async #lock(): Promise<void> {
    const text = `SELECT pg_try_advisory_xact_lock(hashtextextended('millrace copy ' || $1, 0))
                  AS held`;
    const transaction = await this.#session.open("BEGIN");
    this.#unlock = () => transaction.end();
    const { rows } = await transaction.ask(text, [this.#options.schema]);
    if (rows[0].held === true) return;
    throw new MillraceError("STORE_BUSY", `another copy into ${this.place} is in progress`);
  }

  /** Fails when another process has resumed the same copy. */
  async #advance(ask: SendQuery, progress: CopyProgress): Promise<void> {
    const text = "UPDATE millrace.meta SET value = $1 WHERE name = 'copy' AND value = $2";
    const values = [JSON.stringify(progress), JSON.stringify(this.#known())];
    const { rowCount } = await ask(text, values);
    if (rowCount === 1) return;
    throw new MillraceError(
      "STORE_BUSY",
      `another process has resumed the copy into ${this.place}`,
    );
  }

  #known(): CopyProgress {
    if (this.#progress === null) throw new Error("the copy has not started");
    return this.#progress;
  }
}

/** Table, column and last number of each sequence. */
function sequences({ job, lease, name, audit }: Counters): (readonly [string, string, number])[] {
  return [
    ["job", "key", job],
    ["lease", "number", lease],
    ["interned_name", "id", name],
    ["audit", "id", audit],
  ];
}

function namesOf(rows: readonly { readonly name: string }[]): string {
  return rows.map(({ name }) => name).join(", ");
}
