/** `millrace server`: serves the HTTP API and the dashboard. */
import { fileURLToPath } from "node:url";
import { parseDatabaseUrl } from "../../client/database-url.ts";
import { MillraceError } from "../../core/errors.ts";
import type { DemoWorld } from "../../demo/run.ts";
import { createApp } from "../../http/app.ts";
import { listen } from "../../http/listen.ts";
import type { Address, HttpListener } from "../../http/listen.ts";
import { systemClock, systemDice } from "../../lib/system.ts";
import { shownUrl } from "../../lib/url-password.ts";
import { openMillrace } from "../../open.ts";
import { makeStore } from "../../make-store.ts";
import type { AnyContract } from "../../api/definition.ts";
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
  /** The file that declares the jobs; other types are refused. */
  readonly jobs?: string;
  /** Runs the jobs of `src/demo` beside the server. */
  readonly demo?: boolean;
}

/** Returns the current jobs, which `millrace dev` changes while the server runs. */
type Contracts = () => readonly AnyContract[];

/** The token of the server, and the query that signs a browser in. */
interface Credential {
  readonly token: string;
  readonly query: string;
}

const HOST = "127.0.0.1";
const PORTS_TRIED_MAX = 20;
const TOKEN_BYTES = 32;

/** Serves until a signal. `current` replaces the jobs of the job file. */
export async function server(
  options: ServerOptions,
  terminal: Terminal,
  current?: Contracts,
): Promise<ExitCode> {
  checkHost(options.host);
  const contracts = current ?? (await contractsOf(options));
  const credential = credentialOf(process.env["MILLRACE_TOKEN"]);
  const store = await makeStore(parseDatabaseUrl(options.db));
  const mill = await openMillrace(store);
  try {
    const closing = new AbortController();
    const demo = options.demo === true ? await import("../../demo/run.ts") : null;
    const app = createApp({
      mill,
      count: (filter, max) => store.count(filter, max),
      contracts: () => [...contracts(), ...(demo?.demoJobs ?? [])],
      jobFile: options.jobs ?? null,
      closing: closing.signal,
      token: credential.token,
      pageFolder: pageFolder(),
      failed: complainTo(terminal),
    });
    const stop = stopSignal(systemClock);
    const listening = await listenNear(app.fetch, options);
    announce(options, `http://${HOST}:${listening.port}${credential.query}`, terminal);
    if (options.isAnyPort) announceOtherPort(options.port, listening.port, terminal);
    const running = demo?.runDemo(mill, demoWorld(terminal));
    if (current === undefined && options.jobs === undefined) terminal.err(SETTINGS_UNKNOWN);
    if (demo !== null) terminal.err("Demo jobs are running; the dashboard shows them.\n");
    await stop;
    terminal.err("Stopping: waiting for the current requests.\n");
    closing.abort();
    await Promise.all([listening.close(), running?.stop()]);
  } finally {
    await mill.close();
  }
  return EXIT.success;
}

async function contractsOf({ jobs }: ServerOptions): Promise<Contracts> {
  const { contracts } = jobs === undefined ? { contracts: [] } : await loadJobFile(jobs);
  return () => contracts;
}

const SETTINGS_UNKNOWN =
  "Jobs enqueued over HTTP get the default settings: name the job file with --jobs FILE.\n";

/** Only loopback is allowed, because the token would be sent unencrypted between machines. */
function checkHost(host: string): void {
  if (host === HOST || host === "localhost") return;
  throw new MillraceError(
    "OPTION_INVALID",
    `--host “${host}”: the server has no encryption and no users yet, and listens on ${HOST} only`,
  );
}

/** A generated token is printed; a token from the environment is not. */
function credentialOf(chosen: string | undefined): Credential {
  if (chosen === undefined || chosen === "") {
    const token = Buffer.from(systemDice.bytes(TOKEN_BYTES)).toString("base64url");
    return { token, query: `/?token=${token}` };
  }
  if (/^[\w.~+/=-]{16,}$/.test(chosen)) return { token: chosen, query: "" };
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

/** The folder of the dashboard: next to the compiled code, or in its workspace. */
function pageFolder(): string {
  const isSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(
    new URL(isSource ? "../../../dashboard" : "../../dashboard", import.meta.url),
  );
}

/** Listens on the port, or on the next free port if the user has not named one. */
async function listenNear(
  fetch: (request: Request) => Response | Promise<Response>,
  options: ServerOptions,
): Promise<HttpListener> {
  const last = options.isAnyPort ? options.port + PORTS_TRIED_MAX : options.port;
  for (let port = options.port; port <= last; port += 1) {
    const listening = await listenUnlessTaken(fetch, { host: HOST, port });
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

function announce(options: ServerOptions, address: string, terminal: Terminal): void {
  terminal.out(`Millrace is at ${address}\n`);
  terminal.err(`Store: ${shownUrl(options.db)}. Ctrl-C stops the server.\n`);
}

function announceOtherPort(wanted: number, taken: number, terminal: Terminal): void {
  if (taken !== wanted) terminal.err(`Port ${wanted} is in use, using ${taken}.\n`);
}
