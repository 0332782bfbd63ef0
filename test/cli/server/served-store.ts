/** A store behind a real `millrace server`, for commands that reach it both ways. */
import { vi } from "vitest";
import { openMillrace } from "../../../src/index.ts";
import type { Millrace } from "../../../src/index.ts";
import { Project, type, type Typed } from "../command-line.ts";
import type { Program } from "../programs.ts";

/** The output of a command on the database, and of the same command through the server. */
export interface BothWays {
  readonly local: Typed;
  readonly remote: Typed;
}

interface Parts {
  readonly project: Project;
  readonly mill: Millrace;
  readonly secret: string;
  readonly address: string;
  readonly server: Program;
}

export class ServedStore implements AsyncDisposable {
  readonly #project: Project;
  readonly db: string;
  readonly mill: Millrace;
  /** The token that commands through the server send. */
  readonly secret: string;
  readonly address: string;
  readonly server: Program;

  /** `args` are those of the server. */
  static async open(...args: readonly string[]): Promise<ServedStore> {
    const project = new Project("jobs.ts");
    const mill = await openMillrace(project.db);
    const roles = ["operator", "manager", "admin"] as const;
    const { secret } = await mill.tokens.create({ kind: "person", name: "ada", roles });
    const server = project.start("server", "--port", "0", ...args);
    const [, address = ""] = await server.said(/^Millrace is at (http:\/\/[^/\s]+)/m);
    return new ServedStore({ project, mill, secret, address, server });
  }

  constructor({ project, mill, secret, address, server }: Parts) {
    this.#project = project;
    this.db = project.db;
    this.mill = mill;
    this.secret = secret;
    this.address = address;
    this.server = server;
  }

  /** Another server on the same store. */
  startServer(...args: readonly string[]): Program {
    return this.#project.start("server", ...args);
  }

  local(...args: readonly string[]): Promise<Typed> {
    return type(...args, "--db", this.db);
  }

  remote(...args: readonly string[]): Promise<Typed> {
    return this.remoteAs(this.secret, ...args);
  }

  /** The same with another token. */
  async remoteAs(secret: string, ...args: readonly string[]): Promise<Typed> {
    vi.stubEnv("MILLRACE_TOKEN", secret);
    try {
      return await type(...args, "--server", this.address);
    } finally {
      vi.unstubAllEnvs();
    }
  }

  /** For commands that change nothing. */
  async both(...args: readonly string[]): Promise<BothWays> {
    const [local, remote] = [await this.local(...args), await this.remote(...args)];
    return { local: comparable(local), remote: comparable(remote) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.child.kill("SIGTERM");
    await this.server.ended;
    await this.mill.close();
    this.#project[Symbol.dispose]();
  }
}

/** Without ages, which pass while the commands run, and without the place that was typed. */
export function comparable({ code, out, err }: Typed, ...ids: readonly string[]): Typed {
  return { code, out: masked(out, ids), err: masked(err, ids) };
}

function masked(text: string, ids: readonly string[]): string {
  const named = ids.reduce((before, id, index) => before.replaceAll(id, `id-${index}`), text);
  return named
    .replaceAll(/\d+(\.\d+)? (ms|s|m|h)\b/g, "AGE")
    .replaceAll(/("(?:heartbeatAgoMs|oldestQueuedMs)": )\d+(\.\d+)?/g, "$1AGE")
    .replaceAll(/("(?:memoryBytes|loopLagMs)": )(\d+|null)/g, "$1VITAL")
    .replaceAll(/ (\d+ MB|-) +(AGE|-)$/gm, "  VITALS")
    .replaceAll(/("lastUsedAt": )("[^"]*"|null)/g, "$1TIME")
    .replaceAll(/^\S+Z (?=.* It is due)/gm, "NOW ")
    .replaceAll(/ --(db|server) \S+/g, " PLACE")
    .replaceAll(/ {2,}/g, "  ");
}
