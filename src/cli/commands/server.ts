/** `millrace server`: serves the HTTP API and the dashboard. */
import { parseDatabaseUrl } from "../../client/database-url.ts";
import { MillraceError } from "../../core/errors.ts";
import type { DemoWorld } from "../../demo/run.ts";
import { createApp } from "../../http/app.ts";
import { isPublicUrl } from "../../http/handler.ts";
import { ownerOf } from "../../http/identity/identity.ts";
import type { OriginRules } from "../../http/identity/origin.ts";
import { makeParts } from "../../http/make-parts.ts";
import { redactionRules } from "../../core/redaction.ts";
import { listen } from "../../http/listen.ts";
import { pageFolder } from "../../http/page/page-folder.ts";
import type { Address, HttpListener } from "../../http/listen.ts";
import { idSource } from "../../core/ids.ts";
import { defaults } from "../../core/presets.ts";
import { operationRunner } from "../../runtime/maintenance/operation-runner.ts";
import { stderrLogger } from "../../lib/stderr-logger.ts";
import { systemClock, systemDice } from "../../lib/system.ts";
import { shownUrl } from "../../lib/url-password.ts";
import { openMillrace } from "../../open.ts";
import { makeStore } from "../../make-store.ts";
import { auditSealer } from "../../runtime/maintenance/audit-sealer.ts";
import { tenantRemover } from "../../runtime/maintenance/tenant-remover.ts";
import type { Ticker } from "../../runtime/ticker.ts";
import type { JobStore } from "../../store/store.ts";
import type { Millrace } from "../../api/client.ts";
import type { AnyContract } from "../../api/definition.ts";
import { insistOn } from "../../jobs/check-text.ts";
import { someLinks, type Links } from "../../jobs/links-rule.ts";
import { systemUser } from "../shell.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import type { ExitCode } from "../terminal/exit-codes.ts";
import { loadJobFile } from "../jobs-file/job-file.ts";
import { stopSignal } from "../terminal/stop-signal.ts";
import type { Terminal } from "../terminal/terminal.ts";

export interface ServerOptions {
  readonly db: string;
  readonly host: string;
  readonly port: number;
  /** True when another port may be used, because the user has not named one. */
  readonly isAnyPort: boolean;
  /** The address under which browsers reach the server. */
  readonly publicUrl?: string;
  /** Believe the X-Forwarded-Host header of a proxy. */
  readonly trustProxy?: boolean;
  /** Fields whose values only managers read. */
  readonly redact?: readonly string[];
  /** Links from jobs to other systems, by name. */
  readonly links?: Links;
  /** The file that declares the jobs; other types are refused. */
  readonly jobs?: string;
  /** Runs the jobs of `src/demo` beside the server. */
  readonly demo?: boolean;
  /** Refuses every call that changes something. */
  readonly isReadOnly?: boolean;
  /** Does not create a store that is missing. */
  readonly isExisting?: boolean;
}

/** Returns the current jobs, which `millrace dev` changes while the server runs. */
type Contracts = () => readonly AnyContract[];

const LOOPBACK = "127.0.0.1";
const PORTS_TRIED_MAX = 20;

/** Serves until a signal. `current` replaces the jobs of the job file. */
export async function server(
  options: ServerOptions,
  terminal: Terminal,
  current?: Contracts,
): Promise<ExitCode> {
  const contracts = current ?? (await contractsOf(options));
  const ownerSecret = ownerSecretOf(process.env["MILLRACE_TOKEN"]);
  checkPublicUrl(options);
  insistOn("server", someLinks, options.links ?? {}, "--link");
  const store = await makeStore(parseDatabaseUrl(options.db), { create: !options.isExisting });
  const mill = await openMillrace(store);
  const duties = options.isReadOnly === true ? [] : dutiesOf(store, terminal);
  try {
    await checkCredential(options, ownerSecret, mill);
    const closing = new AbortController();
    const demo = options.demo === true ? await import("../../demo/run.ts") : null;
    const parts = makeParts({
      mill,
      contracts: () => [...contracts(), ...(demo?.demoJobs ?? [])],
      jobFile: options.jobs ?? null,
      closing: closing.signal,
      identify: { origin: originOf(options), ownerSecret },
      redaction: redactionRules(options.redact),
      linkTemplates: options.links ?? {},
      isReadOnly: options.isReadOnly === true,
      pageFolder: pageFolder(),
      failed: complainTo(terminal),
    });
    const app = createApp(parts);
    const stop = stopSignal(systemClock);
    const listening = await listenNear(app.fetch, options);
    const hasLink = isLoopback(options.host) && ownerSecret === null;
    const query = hasLink ? `/?login=${parts.links.make(ownerOf(systemUser()))}` : "";
    announce(options, listening.port, query, terminal);
    for (const duty of duties) duty.wake();
    if (options.isAnyPort) announceOtherPort(options.port, listening.port, terminal);
    const running = demo?.runDemo(mill, demoWorld(terminal));
    if (options.isReadOnly === true) terminal.err(READ_ONLY);
    else if (current === undefined && options.jobs === undefined) terminal.err(SETTINGS_UNKNOWN);
    if (demo !== null) terminal.err("Demo jobs are running; the dashboard shows them.\n");
    await stop;
    terminal.err("Stopping: waiting for the current requests.\n");
    closing.abort();
    await Promise.all([listening.close(), running?.stop()]);
  } finally {
    await Promise.all(duties.map((duty) => duty.stop()));
    await mill.close();
  }
  return EXIT.success;
}

/** What a server does besides answering, because there may be no worker. */
function dutiesOf(store: JobStore, terminal: Terminal): readonly Ticker[] {
  return [sealerOf(store, terminal), operationsOf(store), removerOf(store)];
}

/** Acts over HTTP are sealed also where no worker runs. */
function sealerOf(store: JobStore, terminal: Terminal): Ticker {
  const fail = (message: string, fields: object = {}): void =>
    complainTo(terminal)("error" in fields ? fields.error : message);
  const logger = { debug: fail, info: fail, warn: fail, error: fail };
  const random = (): number => systemDice.random();
  return auditSealer({ store, clock: systemClock, random, logger });
}

/** A server without a worker continues bulk operations that no other process runs. */
function operationsOf(store: JobStore): Ticker {
  return operationRunner({
    store,
    clock: systemClock,
    random: () => systemDice.random(),
    logger: stderrLogger("warn", () => systemClock.now()),
    newId: idSource(systemClock, systemDice),
    definitions: new Map(),
    restarts: false,
    idempotencyMs: defaults.retention.idempotencyMs,
  });
}

/** And removals of tenants. */
function removerOf(store: JobStore): Ticker {
  return tenantRemover({
    store,
    clock: systemClock,
    random: () => systemDice.random(),
    logger: stderrLogger("warn", () => systemClock.now()),
  });
}

async function contractsOf({ jobs }: ServerOptions): Promise<Contracts> {
  const { contracts } = jobs === undefined ? { contracts: [] } : await loadJobFile(jobs);
  return () => contracts;
}

const READ_ONLY = "The page only reads. To act on jobs there, add --write.\n";

const SETTINGS_UNKNOWN =
  "Jobs enqueued over HTTP get the default settings: name the job file with --jobs FILE.\n";

function isLoopback(host: string): boolean {
  return host === LOOPBACK || host === "localhost" || host === "::1";
}

/** Half of what a server beyond this machine needs is a mistake, and not a smaller server. */
function checkPublicUrl({ host, publicUrl, trustProxy }: ServerOptions): void {
  if (publicUrl !== undefined && !isPublicUrl(publicUrl)) {
    const form = "a URL such as https://jobs.example.com, without a path";
    throw new MillraceError("OPTION_INVALID", `--public-url must be ${form}, not ${publicUrl}`);
  }
  if (publicUrl !== undefined || (isLoopback(host) && trustProxy !== true)) return;
  const half = isLoopback(host)
    ? "--trust-proxy means that a proxy passes requests on"
    : `--host ${host} is reachable from other machines`;
  throw new MillraceError(
    "OPTION_INVALID",
    `${half}, and --public-url is missing: name the address that browsers use, such as ` +
      "--public-url https://jobs.example.com",
  );
}

async function checkCredential(
  { host }: ServerOptions,
  ownerSecret: string | null,
  mill: Millrace,
): Promise<void> {
  if (isLoopback(host) || ownerSecret !== null) return;
  const people = await mill.tokens.list({ kind: "person", limit: 1 });
  if (people.length > 0) return;
  throw new MillraceError(
    "OPTION_INVALID",
    `--host ${host} is reachable from other machines, and there is no credential: create one ` +
      'with "millrace token create --kind person --role manager NAME", or set MILLRACE_TOKEN',
  );
}

function originOf({ publicUrl, trustProxy }: ServerOptions): OriginRules {
  return {
    publicUrl: publicUrl === undefined ? null : new URL(publicUrl),
    hosts: "loopback",
    trustsProxy: trustProxy === true,
  };
}

function addressOf({ host, publicUrl }: ServerOptions, port: number): string {
  if (publicUrl !== undefined) return new URL(publicUrl).origin;
  return `http://${host === "::1" ? "[::1]" : LOOPBACK}:${port}`;
}

/** The secret of the person who started the server. It is never printed. */
function ownerSecretOf(chosen: string | undefined): string | null {
  if (chosen === undefined || chosen === "") return null;
  if (/^[\w.~+/=-]{16,}$/.test(chosen)) return chosen;
  throw new MillraceError(
    "OPTION_INVALID",
    "MILLRACE_TOKEN must have at least 16 characters, all of them letters, digits or . _ ~ + / = -",
  );
}

function demoWorld(terminal: Terminal): DemoWorld {
  return {
    after: (ms, wake) => systemClock.after(ms, wake),
    random: () => systemDice.random(),
    failed: complainTo(terminal),
  };
}

function complainTo(terminal: Terminal): (error: unknown) => void {
  return (error) => terminal.err(`${error instanceof Error ? error.stack : String(error)}\n`);
}

/** Listens on the port, or on the next free port if the user has not named one. */
async function listenNear(
  fetch: (request: Request) => Response | Promise<Response>,
  options: ServerOptions,
): Promise<HttpListener> {
  const last = options.isAnyPort ? options.port + PORTS_TRIED_MAX : options.port;
  for (let port = options.port; port <= last; port += 1) {
    const listening = await listenUnlessTaken(fetch, {
      host: options.host === "localhost" ? LOOPBACK : options.host,
      port,
    });
    if (listening !== null) return listening;
  }
  const ports =
    last === options.port ? `port ${last}` : `every port from ${options.port} to ${last}`;
  throw new MillraceError("OPTION_INVALID", `--port: ${ports} is used by another program`);
}

async function listenUnlessTaken(
  fetch: (request: Request) => Response | Promise<Response>,
  address: Address,
): Promise<HttpListener | null> {
  try {
    return await listen(fetch, address);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "EADDRINUSE") return null;
    if (code !== "EACCES") throw error;
    throw new MillraceError(
      "OPTION_INVALID",
      `--port ${address.port}: this user may not listen on the port; use a port above 1023`,
      { cause: error },
    );
  }
}

function announce(options: ServerOptions, port: number, query: string, terminal: Terminal): void {
  terminal.out(`Millrace is at ${addressOf(options, port)}${query}\n`);
  // The public address is that of a proxy, which has to know the port.
  if (options.publicUrl !== undefined) terminal.err(`Listening on ${options.host}:${port}.\n`);
  terminal.err(`Store: ${shownUrl(options.db)}. Ctrl-C stops the server.\n`);
}

function announceOtherPort(wanted: number, taken: number, terminal: Terminal): void {
  if (taken !== wanted) terminal.err(`Port ${wanted} is in use, using ${taken}.\n`);
}
