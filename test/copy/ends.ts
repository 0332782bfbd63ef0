/** Both ends of a copy for tests: a file with a living store, and a schema on a server. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommandLine } from "../../src/cli/program.ts";
import type { Comparison } from "../../src/copy/compare.ts";
import { copyStore, type CopyParts } from "../../src/copy/copy.ts";
import { systemDice } from "../../src/lib/system.ts";
import { openCopyTarget } from "../../src/store/postgres/copy/target.ts";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { openCopySource } from "../../src/store/sqlite/copy/source.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import type { JobStore } from "../../src/store/store.ts";
import { connect, type PostgresServer } from "../support/postgres.ts";

const ROOT = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
export const PASSWORD = "s3cret-Pa55";
let schemas = 0;

export class Ends implements AsyncDisposable {
  readonly file: string;
  /** The server lets every user in, and any password will do. */
  readonly url: string;
  readonly schema: string;
  /** A handle that was open before the copy began. */
  readonly old: ReturnType<typeof makeSqliteStore>;
  readonly folder: string;
  readonly #stores: JobStore[] = [];

  static async open(server: PostgresServer): Promise<Ends> {
    const ends = new Ends(await mkdtemp(join(ROOT, "millrace-copy-")), server);
    await ends.old.open();
    return ends;
  }

  private constructor(folder: string, server: PostgresServer) {
    this.folder = folder;
    this.file = join(folder, "jobs.db");
    this.url = server.url.replace("postgres@", `postgres:${PASSWORD}@`);
    this.schema = `copy_${process.pid}_${(schemas += 1)}`;
    this.old = makeSqliteStore({ path: this.file });
    this.#stores.push(this.old);
  }

  /** The store at the target, opened. */
  async moved(): Promise<JobStore> {
    const store = makePostgresStore({ url: this.url, schema: this.schema });
    await store.open();
    this.#stores.push(store);
    return store;
  }

  /** Copies, or goes on with it. `change` replaces parts, to let something happen on the way. */
  async copy(
    change: (parts: CopyParts) => Partial<CopyParts> = () => ({}),
  ): Promise<readonly Comparison[] | null> {
    return this.with((parts) => copyStore({ ...parts, ...change(parts) }));
  }

  /** Lends both ends as a copy sees them. */
  async with<Answer>(work: (parts: CopyParts) => Promise<Answer>): Promise<Answer> {
    const { url, schema } = this;
    const source = openCopySource(this.file);
    const target = await openCopyTarget({ url, schema, place: `the schema ${schema}` });
    try {
      return await work({ source, target, dice: systemDice, report: () => {} });
    } finally {
      source.close();
      await target.close();
    }
  }

  /** Types `millrace copy` with both ends. */
  async type(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    let [out, err] = ["", ""];
    const ends = ["--from", `sqlite:${this.file}`, "--to", `${this.url}?schema=${this.schema}`];
    const code = await runCommandLine(["copy", ...ends, ...args], {
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    });
    return { code, out, err };
  }

  /** Asks the server, past every store. */
  async sql(text: string): Promise<any[]> {
    const client = await connect(this.url);
    try {
      const { rows } = await client.query(text.replaceAll("millrace.", `${this.schema}.`));
      return rows;
    } finally {
      await client.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
    await this.sql(`DROP SCHEMA IF EXISTS ${this.schema} CASCADE`);
    await rm(this.folder, { recursive: true });
  }
}

/** The tables that are not the same. */
export function differences(comparisons: readonly Comparison[] | null): readonly Comparison[] {
  return (comparisons ?? []).filter(({ isEqual }) => !isEqual);
}
