/** `openMillrace`: chooses and opens a store, and joins client and runtime. */
import { resolve } from "node:path";
import { currentJob } from "./jobs/async-context.ts";
import { insistOn } from "./jobs/check-text.ts";
import { aPreset } from "./jobs/preset-rule.ts";
import { Client } from "./client/client.ts";
import { parseDatabaseUrl, type DatabaseAddress } from "./client/database-url.ts";
import { openShared, type SharedOptions } from "./client/store-registry.ts";
import { MillraceError } from "./core/errors.ts";
import { defaults } from "./core/presets.ts";
import type { Millrace, OpenOptions } from "./api/client.ts";
import type { Logger } from "./api/context.ts";
import { aName, anObject, must, notYet, type Rule } from "./api/rules.ts";
import type { AnyJob, Worker, WorkOptions } from "./api/worker.ts";
import { stderrLogger } from "./lib/stderr-logger.ts";
import { makeStore } from "./make-store.ts";
import { packageVersion } from "./lib/package-version.ts";
import { systemClock, systemDice } from "./lib/system.ts";
import { settingsOf } from "./runtime/settings.ts";
import { thisProcess } from "./runtime/crashes/host-process.ts";
import { sayingClosedOnce } from "./runtime/closed-store.ts";
import { JobWorker } from "./runtime/worker.ts";
import type { JobStore, Store } from "./store/store.ts";

const URL_DEFAULT = "sqlite:./millrace.db";

/** One rule per option. The mapped type makes the compiler demand a rule for a new option. */
const OPTION_RULES: { readonly [K in keyof Required<OpenOptions>]: Rule } = {
  tenant: aName,
  preset: aPreset,
  logger: must(isLogger, "a logger with the methods debug, info, warn and error"),
};
const OPTIONS = anObject(
  { required: {}, optional: { ...OPTION_RULES, webhookUrl: notYet } },
  'an object such as { tenant: "acme" }',
);

const OPTIONS_DEFAULT: SharedOptions = { tenant: "default", preset: defaults };

/**
 * Opens Millrace on the store of a URL, or on a given store. The default URL is
 * `MILLRACE_DATABASE_URL`, or `sqlite:./millrace.db` when that variable is not set.
 *
 * All openers of a URL in one process share one store, also when a hot reload evaluates this module
 * twice. The store is closed when every opener has closed its mill. `tenant` and `preset` are
 * shared: later openers pass the same values or omit them.
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
  insistOn("openMillrace", OPTIONS, options, "");
  if (typeof store === "object") return openOn(asJobStore(store), options);
  const url = store ?? process.env["MILLRACE_DATABASE_URL"] ?? URL_DEFAULT;
  const address = parseDatabaseUrl(url);
  const place = placeOf(address);
  if (place === null) return openOn(await makeStore(address), options);
  const { tenant, preset, logger } = options;
  const shared = await openShared({
    name: `${packageVersion()} ${place}`,
    make: async () => opened(await makeStore(address)),
    options: { tenant, preset },
    defaults: OPTIONS_DEFAULT,
  });
  return declared(new OpenedMillrace(shared.store, shared.options, logger));
}

/** The rules of its preset hold for every entrance of the installation from now on. */
async function declared(mill: OpenedMillrace): Promise<OpenedMillrace> {
  await mill.jobDefaults.payloads?.declare(mill.parts.preset.payloadRules);
  return mill;
}

function isLogger(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const methods = ["debug", "info", "warn", "error"];
  return methods.every((method) => typeof Reflect.get(value, method) === "function");
}

/** Identifies a database; null for a database in memory, which cannot be shared. */
function placeOf(address: DatabaseAddress): string | null {
  if (address.kind === "postgres") return `${address.url} ${address.schema ?? ""}`;
  return address.path === ":memory:" ? null : resolve(address.path);
}

async function openOn(
  store: JobStore,
  { tenant, preset, logger }: OpenOptions,
): Promise<OpenedMillrace> {
  const options = {
    tenant: tenant ?? OPTIONS_DEFAULT.tenant,
    preset: preset ?? OPTIONS_DEFAULT.preset,
  };
  return declared(new OpenedMillrace(await opened(store), options, logger));
}

async function opened(store: JobStore): Promise<JobStore> {
  await store.open();
  return store;
}

function asJobStore(store: Store): JobStore {
  if ("claim" in store && "settle" in store) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Every store of ours is one.
    return store as JobStore;
  }
  throw new MillraceError(
    "OPTION_INVALID",
    "openMillrace takes a URL or a store made by sqliteStore or postgresStore",
  );
}

class OpenedMillrace extends Client implements Millrace {
  readonly #workers = new Set<JobWorker>();
  #closing: Promise<void> | null = null;

  constructor(store: JobStore, { tenant, preset }: SharedOptions, logger: Logger | undefined) {
    super({
      store,
      clock: systemClock,
      dice: systemDice,
      logger: logger ?? stderrLogger("warn", () => systemClock.now()),
      tenant,
      preset,
    });
    store.onWarning?.((warning) => this.parts.logger.warn(warning));
  }

  work<const J extends readonly AnyJob[]>(options: WorkOptions<J>): Worker {
    const settings = settingsOf({ preset: this.parts.preset, ...options });
    this.learn(settings.definitions.values(), settings.preset.retry);
    this.learnRetention(settings.retention);
    const { store, clock, dice, logger } = this.parts;
    const worker = new JobWorker({
      store,
      clock,
      dice,
      logger: sayingClosedOnce(logger),
      jobDefaults: this.jobDefaults,
      settings,
      version: packageVersion(),
      process: thisProcess,
    });
    this.#workers.add(worker);
    return worker;
  }

  /** Stops the workers that were started here, then closes the store. */
  override async close(): Promise<void> {
    if (await this.#isWithinOwnJob()) {
      throw new MillraceError(
        "CLOSE_FROM_WITHIN",
        "a handler must not close the mill that runs it: close would wait for the handler",
      );
    }
    this.#closing ??= this.#close();
    await this.#closing;
  }

  /** Ids are unique: if this store has the current job, a worker of this mill may run it. */
  async #isWithinOwnJob(): Promise<boolean> {
    const job = currentJob();
    if (job === undefined || this.#workers.size === 0) return false;
    try {
      return (await this.parts.store.get(job.id)) !== null;
    } catch {
      // The store is closed or fails: then close does not wait for the handler.
      return false;
    }
  }

  async #close(): Promise<void> {
    const stops = await Promise.allSettled([...this.#workers].map((worker) => worker.stop()));
    await super.close();
    const failed = stops.find((stop) => stop.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
}
