/** Fresh databases for one measurement each: files, databases of one server, or a Redis. */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "pg";
import { connect, startPostgres, type PostgresServer } from "../test/support/postgres.ts";

export const REDIS_SERVER = "redis-server";

export type DatabaseKind = "sqlite" | "postgres" | "redis";

export interface Database extends AsyncDisposable {
  readonly url: string;
  /**
   * Brings the statistics up to date, as a server does that has run for a while, and writes back
   * what is dirty, so that no measurement pays for the work of another.
   */
  settle(): Promise<void>;
  /** Processor time of the server so far; `null` where there is none, or it cannot be read. */
  cpuMs(): number | null;
}

/** Starts servers when they are first needed. A server that is still open ends with it. */
export class Databases implements AsyncDisposable {
  readonly #open = new Set<Database>();
  #postgres: Promise<PostgresServer> | null = null;
  #made = 0;
  #isClosed = false;

  async fresh(kind: DatabaseKind): Promise<Database> {
    // A run that is being cut short waits here for its end.
    if (this.#isClosed) await new Promise(() => {});
    const made = await this.#make(kind);
    this.#open.add(made);
    const close = async (): Promise<void> => {
      if (this.#open.delete(made)) await made[Symbol.asyncDispose]();
    };
    return { ...made, [Symbol.asyncDispose]: close };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#open];
    this.#open.clear();
    await Promise.allSettled(open.map((database) => database[Symbol.asyncDispose]()));
    const server = await this.#postgres;
    this.#postgres = null;
    await server?.[Symbol.asyncDispose]();
  }

  async #make(kind: DatabaseKind): Promise<Database> {
    if (kind === "sqlite") return freshFile();
    if (kind === "redis") return freshRedis();
    this.#postgres ??= startPostgres();
    this.#made += 1;
    return freshDatabase(await this.#postgres, `bench_${this.#made}`);
  }
}

export function isOnPath(program: string): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((each) => each !== "");
  return folders.some((folder) => {
    try {
      return readdirSync(folder).includes(program);
    } catch {
      return false;
    }
  });
}

function freshFile(): Database {
  const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
  return {
    url: `sqlite:${join(folder, "bench.db")}`,
    settle: async () => {},
    cpuMs: () => null,
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function freshDatabase(server: PostgresServer, name: string): Promise<Database> {
  const admin = await connect(server.url);
  await admin.query(`CREATE DATABASE ${name}`);
  const postmaster = await postmasterOf(admin);
  const url = server.url.replace(/\/[^/]*$/, `/${name}`);
  return {
    url,
    settle: async () => {
      const client = await connect(url);
      await client.query("ANALYZE");
      await client.query("CHECKPOINT");
      await client.end();
    },
    cpuMs: () => cpuMsOf(postmaster),
    [Symbol.asyncDispose]: async () => {
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end();
    },
  };
}

async function postmasterOf(client: Client): Promise<number | null> {
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  const stat = statOf(rows[0]?.pid ?? 0);
  return stat === null ? null : stat.parent;
}

/** The server, the backends that it has, and those that it had. Linux only. */
function cpuMsOf(postmaster: number | null): number | null {
  const own = postmaster === null ? null : statOf(postmaster);
  if (own === null) return null;
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)) ?? [])
    .filter(({ parent }) => parent === postmaster);
  const ticks = children.reduce((sum, each) => sum + each.ticks, own.ticks + own.childTicks);
  return ticks * tickMs();
}

function statOf(pid: number): { parent: number; ticks: number; childTicks: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const at = (index: number): number => fields[index] ?? 0;
    return { parent: at(1), ticks: at(11) + at(12), childTicks: at(13) + at(14) };
  } catch {
    return null;
  }
}

let knownTickMs = 0;
function tickMs(): number {
  knownTickMs ||= 1000 / Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
  return knownTickMs;
}

/** Durability as near to the others as Redis is usually run: append-only, synced every second. */
async function freshRedis(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
  const port = await freePort();
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
  const durability = ["--appendonly", "yes", "--appendfsync", "everysec"];
  const server = spawn(REDIS_SERVER, [...options, ...durability], { stdio: "ignore" });
  const gone = new Promise((resolve) => server.once("exit", resolve));
  await pause(1_000);
  return {
    url: `redis://127.0.0.1:${port}`,
    settle: async () => {},
    cpuMs: () => {
      const stat = statOf(server.pid ?? 0);
      return stat === null ? null : stat.ticks * tickMs();
    },
    [Symbol.asyncDispose]: async () => {
      server.kill();
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
