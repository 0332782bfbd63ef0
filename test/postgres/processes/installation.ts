/** Installations for processes in SQL: one database for each test, copied from a fresh one. */
import type { Client } from "pg";
import { processMigration } from "../../../src/cli/commands/process/process-migration.ts";
import { processNames } from "../../../src/cli/commands/process/process-names.ts";
import { openMillrace } from "../../../src/open.ts";
import { templates } from "../../../src/store/postgres/create.ts";
import { connect, startPostgres, type PostgresServer } from "../../support/postgres.ts";

export interface Words {
  readonly channel?: string;
  readonly root?: string;
  readonly references?: string;
  readonly maxAttempts?: string;
  readonly schema?: string;
}

/** The migration that `millrace process new` prints. */
export function migrationOf(name: string, words: Words = {}): string {
  const usual = {
    channel: "email",
    root: "subject_id:bigint",
    maxAttempts: "5",
    schema: "millrace",
  };
  return processMigration(templates.process, processNames({ ...usual, ...words, name }));
}

export class Installations implements AsyncDisposable {
  readonly #server: PostgresServer;
  #made = 0;

  private constructor(server: PostgresServer) {
    this.#server = server;
  }

  static async start(): Promise<Installations> {
    const server = await startPostgres({ durable: false });
    const made = new Installations(server);
    await made.#run("CREATE DATABASE fresh");
    const mill = await openMillrace(made.urlOf("fresh"));
    await mill.close();
    return made;
  }

  urlOf(database: string): string {
    return this.#server.url.replace(/postgres$/, database);
  }

  /** A connection to a database with a fresh installation, as its owner. */
  async open(): Promise<Installation> {
    this.#made += 1;
    const database = `installation_${this.#made}`;
    await this.#run(`CREATE DATABASE ${database} TEMPLATE fresh`);
    return new Installation(await connect(this.urlOf(database)), this.urlOf(database));
  }

  async #run(statement: string): Promise<void> {
    const client = await connect(this.#server.url);
    await client.query(statement);
    await client.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

export class Installation implements AsyncDisposable {
  readonly sql: Client;
  readonly url: string;

  constructor(sql: Client, url: string) {
    this.sql = sql;
    this.url = url;
  }

  /** Runs the file of a process. */
  async add(name: string, words: Words = {}): Promise<void> {
    await this.sql.query(migrationOf(name, words));
  }

  /** The first column of the first row. */
  async value(text: string, ...parameters: readonly unknown[]): Promise<any> {
    return (await this.column(text, ...parameters))[0];
  }

  /** The first column of all rows. */
  async column(text: string, ...parameters: readonly unknown[]): Promise<any[]> {
    const { rows } = await this.sql.query({
      text,
      values: [...parameters],
      rowMode: "array",
    });
    return rows.map(([first]: unknown[]) => first);
  }

  /** The SQLSTATE with which a statement is refused; null: it is not. */
  async refusal(text: string, ...parameters: readonly unknown[]): Promise<string | null> {
    try {
      await this.sql.query(text, [...parameters]);
      return null;
    } catch (error) {
      return error instanceof Error && "code" in error ? String(error.code) : String(error);
    }
  }

  /** The payloads of the tasks of a type, in the order in which they were enqueued. */
  tasks(type: string): Promise<any[]> {
    const text = "SELECT payload FROM millrace.task WHERE task_type = $1 ORDER BY task_id";
    return this.column(text, type);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sql.end();
  }
}
