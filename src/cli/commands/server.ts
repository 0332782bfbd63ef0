/** `millrace server`: the HTTP API and the dashboard. */
import { fileURLToPath } from "node:url";
import { MillraceError } from "../../core/errors.ts";
import { createApp } from "../../http/app.ts";
import { listen } from "../../http/listen.ts";
import type { Address, Listening } from "../../http/listen.ts";
import { systemClock } from "../../lib/system.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { openStore } from "../open-store.ts";
import { stopSignal } from "../stop-signal.ts";
import type { Terminal } from "../terminal.ts";

export interface ServerOptions {
  readonly db: string;
  readonly host: string;
  readonly port: number;
  /** True when the port is ours to change, because nobody asked for this one. */
  readonly isAnyPort: boolean;
}

const HOST = "127.0.0.1";
const PORTS_TRIED_MAX = 20;

/** Serves until a signal asks it to stop. */
export async function server(options: ServerOptions, terminal: Terminal): Promise<ExitCode> {
  checkHost(options.host);
  const store = await openStore(options.db);
  try {
    const app = createApp({
      count: (filter, max) => store.count(filter, max),
      pageFolder: pageFolder(),
    });
    const stop = stopSignal(systemClock);
    const listening = await listenNear(app.fetch, options);
    announce(options, listening.port, terminal);
    await stop;
    terminal.err("Stopping: requests under way are being finished.\n");
    await listening.close();
  } finally {
    await store.close();
  }
  return EXIT.success;
}

/** Without access control, nobody but this machine may ask. */
function checkHost(host: string): void {
  if (host === HOST || host === "localhost") return;
  throw new MillraceError(
    "OPTION_INVALID",
    `--host “${host}”: the server has no access control yet and listens on ${HOST} only`,
  );
}

/** Beside the compiled code, or in its own workspace when run from source. */
function pageFolder(): string {
  const isSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(
    new URL(isSource ? "../../../dashboard" : "../../dashboard", import.meta.url),
  );
}

/** Takes the port, or a free one close by if the choice is ours. */
async function listenNear(
  fetch: (request: Request) => Response | Promise<Response>,
  options: ServerOptions,
): Promise<Listening> {
  const last = options.isAnyPort ? options.port + PORTS_TRIED_MAX : options.port;
  for (let port = options.port; port <= last; port += 1) {
    const listening = await listenUnlessTaken(fetch, { host: HOST, port });
    if (listening !== null) return listening;
  }
  const ports =
    last === options.port ? `port ${last}` : `every port from ${options.port} to ${last}`;
  throw new MillraceError("OPTION_INVALID", `--port: ${ports} is taken by another program`);
}

async function listenUnlessTaken(
  fetch: (request: Request) => Response | Promise<Response>,
  address: Address,
): Promise<Listening | null> {
  try {
    return await listen(fetch, address);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "EADDRINUSE") return null;
    if (code !== "EACCES") throw error;
    throw new MillraceError(
      "OPTION_INVALID",
      `--port ${address.port}: this user may not listen there; take one above 1023`,
      { cause: error },
    );
  }
}

function announce(options: ServerOptions, port: number, terminal: Terminal): void {
  if (options.isAnyPort && port !== options.port) {
    terminal.err(`Port ${options.port} is taken, using ${port}.\n`);
  }
  terminal.out(`Millrace is at http://${HOST}:${port}\n`);
  terminal.err(`Store: ${options.db}. Ctrl-C stops the server.\n`);
}
