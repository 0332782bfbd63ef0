/** `openMillrace`: chooses a store, opens it, and puts client and runtime together. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Client } from "./client/client.ts";
import { parseDatabaseUrl } from "./client/database-url.ts";
import { MillraceError } from "./core/errors.ts";
import { defaults } from "./core/presets.ts";
import type { Millrace, OpenOptions } from "./face/client.ts";
import type { AnyJob, Worker, WorkOptions } from "./face/worker.ts";
import { stderrLogger } from "./lib/stderr-logger.ts";
import { systemClock, systemDice } from "./lib/system.ts";
import { settingsOf } from "./runtime/settings.ts";
import { JobWorker } from "./runtime/worker.ts";
import type { JobStore, Store } from "./store/store.ts";

const URL_DEFAULT = "sqlite:./millrace.db";

/** One instance per address and process, so that a hot reload does not open forty. */
const instances = new Map<string, SharedInstance>();

interface SharedInstance {
  readonly opened: Promise<OpenedMillrace>;
  /** Who has opened it and not closed it yet. */
  users: number;
}

/**
 * Opens Millrace: on the store that a URL names, or on one that you made. Without either it takes
 * `MILLRACE_DATABASE_URL`, else `sqlite:./millrace.db`. The same URL in one process gives the same
 * instance; it is closed when everybody who opened it has closed it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { defineJob, openMillrace, typed } from "millrace";
 *
 * const greet = defineJob({ type: "greet", payload: typed<{ name: string }>() }).run(
 *   ({ name }) => `Hello ${name}`,
 * );
 *
 * const mill = await openMillrace("sqlite::memory:");
 * const worker = mill.work({ jobs: [greet] });
 * const job = await mill.enqueue(greet, { name: "Ada" });
 * assert.equal(await mill.result(job), "Hello Ada");
 * await worker.stop();
 * await mill.close();
 * ```
 */
export async function openMillrace(
  store?: string | Store,
  options: OpenOptions = {},
): Promise<Millrace> {
  if (typeof store === "object") return openOn(asJobStore(store), options);
  const url = store ?? process.env["MILLRACE_DATABASE_URL"] ?? URL_DEFAULT;
  const { path } = parseDatabaseUrl(url);
  if (path === ":memory:") return openOn(await makeStore(path), options);
  return openShared(`${resolve(path)} ${options.tenant ?? ""}`, path, options);
}

async function openShared(name: string, path: string, options: OpenOptions): Promise<Millrace> {
  const entry: SharedInstance = instances.get(name) ?? {
    users: 0,
    opened: makeStore(path).then((made) => openOn(made, options, letGo)),
  };
  /** Answers whether that was the last user. */
  function letGo(): boolean {
    entry.users -= 1;
    if (entry.users === 0) instances.delete(name);
    return entry.users === 0;
  }
  instances.set(name, entry);
  entry.users += 1;
  try {
    return await entry.opened;
  } catch (error) {
    instances.delete(name);
    throw error;
  }
}

/** Loaded only when it is needed. */
async function makeStore(path: string): Promise<JobStore> {
  const { makeSqliteStore } = await import("./store/sqlite/make.ts");
  return makeSqliteStore({ path });
}

async function openOn(
  store: JobStore,
  options: OpenOptions,
  letGo: () => boolean = () => true,
): Promise<OpenedMillrace> {
  await store.open();
  return new OpenedMillrace(store, options, letGo);
}

function asJobStore(store: Store): JobStore {
  if ("claim" in store && "settle" in store) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Every store of ours is one.
    return store as JobStore;
  }
  throw new MillraceError(
    "OPTION_INVALID",
    "openMillrace takes a URL or a store made by sqliteStore",
  );
}

class OpenedMillrace extends Client implements Millrace {
  readonly #workers = new Set<JobWorker>();
  readonly #letGo: () => boolean;
  #closing: Promise<void> | null = null;

  constructor(
    store: JobStore,
    { tenant = "default", logger, preset = defaults }: OpenOptions,
    letGo: () => boolean,
  ) {
    super({
      store,
      clock: systemClock,
      dice: systemDice,
      logger: logger ?? stderrLogger("warn", () => systemClock.now()),
      tenant,
      preset,
    });
    this.#letGo = letGo;
  }

  work<const J extends readonly AnyJob[]>(options: WorkOptions<J>): Worker {
    const worker = new JobWorker({
      client: this,
      settings: settingsOf({ preset: this.parts.preset, ...options }),
      version: packageVersion(),
    });
    this.#workers.add(worker);
    return worker;
  }

  /** The last one to close stops the workers that are still running and closes the store. */
  override async close(): Promise<void> {
    if (this.#closing === null && !this.#letGo()) return;
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    const stops = await Promise.allSettled([...this.#workers].map((worker) => worker.stop()));
    await super.close();
    const failed = stops.find((stop) => stop.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
}

/** From the package's own manifest, one folder up in the source and in the build. */
function packageVersion(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const { version }: { version: string } = JSON.parse(manifest);
  return version;
}
