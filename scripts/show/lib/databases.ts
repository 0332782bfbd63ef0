/** Where shows keep their jobs: databases of their own on either store, gone when they end. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseDatabaseUrl } from "../../../src/client/database-url.ts";
import { makeStore } from "../../../src/make-store.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { startPostgres } from "../../../test/support/postgres.ts";
import type { PostgresServer } from "../../../test/support/postgres.ts";
import type { StoreKind } from "./options.ts";

export class Places implements AsyncDisposable {
  /** For logs; gone with the rest. */
  readonly folder: string;
  readonly #server: PostgresServer | null;
  #count = 0;

  /** `durable`: a server that waits for its disk, as a file always does. */
  static async open(kind: StoreKind, { durable = false } = {}): Promise<Places> {
    const server = kind === "postgres" ? await startPostgres({ durable }) : null;
    return new Places(mkdtempSync(join(tmpdir(), "millrace-show-")), server);
  }

  private constructor(folder: string, server: PostgresServer | null) {
    this.folder = folder;
    this.#server = server;
  }

  /** The address of a database that is new and empty. */
  next(): string {
    this.#count += 1;
    if (this.#server !== null) return `${this.#server.url}?schema=show_${this.#count}`;
    return `sqlite:${join(this.folder, `jobs-${this.#count}.db`)}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A store as the library opens it, for those who speak to it verb by verb. */
export async function openStore(url: string): Promise<JobStore> {
  const store = await makeStore(parseDatabaseUrl(url));
  await store.open();
  return store;
}
