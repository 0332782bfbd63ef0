/** The environment of a command, and how it opens the store. */
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { parseDatabaseUrl } from "../client/database-url.ts";
import type { Millrace, OpenOptions } from "../api/client.ts";
import { changedJobIdOf, jobIdOf } from "./job-id.ts";
import type { OperatorMill } from "./operator-mill.ts";
import { isServerUrl } from "./terminal/options.ts";
import type { Store } from "../store/store.ts";
import { EXIT, CommandFailure } from "./terminal/exit-codes.ts";
import type { ExitCode } from "./terminal/exit-codes.ts";
import type { Terminal } from "./terminal/terminal.ts";

export interface Shell {
  readonly terminal: Terminal;
  /** Sets the exit code of the command. */
  readonly end: (code: ExitCode) => void;
}

/** Opens the store, creates it if necessary, and closes it after `work`. */
export async function withMill<Answer>(
  store: string | Store,
  work: (mill: Millrace) => Promise<Answer>,
  options: OpenOptions = {},
): Promise<Answer> {
  const { openMillrace } = await import("../open.ts");
  const mill = await openMillrace(store, options);
  try {
    return await work(mill);
  } finally {
    await mill.close();
  }
}

/** Reaches a store, which is created if necessary, or a server. */
export async function withOperatorMill<Answer>(
  url: string,
  work: (mill: OperatorMill) => Promise<Answer>,
): Promise<Answer> {
  return isServerUrl(url) ? withServer(url, work) : withMill(url, work);
}

/** The same for commands for which an empty new store is a mistake. */
export async function withExistingMill<Answer>(
  url: string,
  work: (mill: OperatorMill) => Promise<Answer>,
): Promise<Answer> {
  if (isServerUrl(url)) return withServer(url, work);
  requireStore(url);
  const address = parseDatabaseUrl(url);
  if (address.kind === "sqlite") return withMill(url, work);
  const { makeStore } = await import("../make-store.ts");
  return withMill(await makeStore(address, { create: false }), work);
}

/** Opens a store that exists, for a command about one job; `text` may begin the id of the job. */
export async function withJob<Answer>(
  url: string,
  text: string,
  work: (mill: OperatorMill, id: string) => Promise<Answer>,
): Promise<Answer> {
  return withExistingMill(url, async (mill) => work(mill, await jobIdOf(mill, text)));
}

/** The same for a command that changes the job: it takes no short beginning of the id. */
export async function withChangedJob<Answer>(
  url: string,
  text: string,
  work: (mill: OperatorMill, id: string) => Promise<Answer>,
): Promise<Answer> {
  return withExistingMill(url, async (mill) => work(mill, await changedJobIdOf(mill, text)));
}

async function withServer<Answer>(
  url: string,
  work: (mill: OperatorMill) => Promise<Answer>,
): Promise<Answer> {
  const { remoteMill } = await import("../remote/remote-mill.ts");
  // An empty variable is the usual way to unset one for a single command.
  const token = process.env["MILLRACE_TOKEN"] || null;
  return work(remoteMill({ url, token }));
}

export function requireStore(url: string): void {
  const address = parseDatabaseUrl(url);
  // Only opening shows whether a server has a store.
  if (address.kind !== "sqlite") return;
  if (address.path === ":memory:" || existsSync(address.path)) return;
  throw new CommandFailure(`There is no store at ${address.path}.`, {
    hint: "Name another store with --db, or create this one with: millrace migrate",
    exitCode: EXIT.store,
  });
}

/** The name of the user, for the records. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have a number and no name.
    return process.env["USER"] ?? "unknown";
  }
}

/** The options without those that are undefined. */
export function given<Options extends object>(
  options: Options,
): { [Name in keyof Options]?: Exclude<Options[Name], undefined> } {
  const known = Object.entries(options).filter(([, value]) => value !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- A subset of the same pairs.
  return Object.fromEntries(known) as { [Name in keyof Options]?: never };
}
