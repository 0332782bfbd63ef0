/** Opens the scene of a voyage: a fresh database, three workers and two producers. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Preset } from "millrace";
import { defaults } from "../../src/core/presets.ts";
import { connect } from "../../test/support/postgres.ts";
import type { PostgresServer } from "../../test/support/postgres.ts";
import type { Child, WorkSettings } from "../show/lib/fleet/children.ts";
import { Fleet } from "../show/lib/fleet/fleet.ts";
import { openProxy } from "../show/lib/fleet/proxy.ts";
import { CLOCK_OPTIONS, JumpingClock } from "./clock.ts";
import type { PostgresScene, Scene, SqliteScene } from "./scene.ts";
import { openSmallDisk } from "./small-disk.ts";
import type { ProducerSettings } from "./wishes.ts";

const WORKERS = 3;
const PRODUCERS = 2;
const LEASE_MS = 1_000;
const REST_MS = 90;
const PRODUCER = new URL("producer.child.ts", import.meta.url);

const SOON = {
  kind: "exponential",
  baseMs: 50,
  factor: 2,
  jitter: 0.2,
  capMs: 400,
  jitterAt: "cap",
} as const;

/** Retries come soon, and no job may be given up: each job that fails was told to. */
const PRESET: Preset = {
  ...defaults,
  retry: {
    ...defaults.retry,
    maxAttempts: 50,
    crashCap: 50,
    backoff: { transient: SOON, retryable: SOON, rate_limited: SOON },
  },
};

const WORK: WorkSettings = {
  lanes: { general: 6 },
  lease: LEASE_MS,
  poll: 50,
  grace: 400,
  preset: PRESET,
};

export async function openSqliteScene(seed: number): Promise<SqliteScene & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const disk = openSmallDisk();
  if (disk !== null) stack.use(disk);
  const folder = stack.adopt(temporaryFolder(), remove);
  const file = join(disk?.path ?? folder, "jobs.db");
  const clock = new JumpingClock(folder, "host");
  const fleet = stack.use(
    await Fleet.open({
      name: "chaos",
      url: `sqlite:${file}`,
      workers: WORKERS,
      work: WORK,
      nodeOptions: CLOCK_OPTIONS,
      env: () => clock.env,
    }),
  );
  const crew = await hire(fleet, `sqlite:${file}`, seed);
  const opened = stack.move();
  return {
    store: "sqlite",
    fleet,
    ...crew,
    leaseMs: LEASE_MS,
    file,
    disk: disk?.path ?? null,
    clock,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

export async function openPostgresScene(
  server: PostgresServer,
  seed: number,
): Promise<PostgresScene & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const url = stack.adopt(await createDatabase(server.url, `chaos_${seed}`), dropDatabase).href;
  const fates: PostgresScene["fates"] = { of: null };
  const proxy = stack.use(
    await openProxy({ url, fateOf: (request) => fates.of?.(request) ?? { kind: "pass" } }),
  );
  const folder = stack.adopt(temporaryFolder(), remove);
  const hosts = Array.from({ length: WORKERS + PRODUCERS }, (_, index) => `host-${index}`);
  const clocks = hosts.map((host) => new JumpingClock(folder, host));
  let started = 0;
  const env = (): JumpingClock["env"] => clocks[started++ % clocks.length]!.env;
  const fleet = stack.use(
    await Fleet.open({
      name: "chaos",
      url,
      workersUrl: proxy.url,
      workers: WORKERS,
      work: WORK,
      nodeOptions: CLOCK_OPTIONS,
      env,
    }),
  );
  const crew = await hire(fleet, proxy.url, seed);
  const opened = stack.move();
  return {
    store: "postgres",
    fleet,
    ...crew,
    leaseMs: LEASE_MS,
    server,
    url,
    proxy,
    fates,
    clocks,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Producers, each with a seat whose keyed wishes its successor inherits. */
async function hire(
  fleet: Fleet,
  url: string,
  seed: number,
): Promise<Pick<Scene, "producers" | "startProducer">> {
  let hired = 0;
  const startProducer = (seat: number): Child => {
    hired += 1;
    const settings: ProducerSettings = {
      url,
      preset: PRESET,
      acks: fleet.path("acks"),
      asked: fleet.path(`asked-${seat}`),
      cancels: fleet.path("cancels"),
      refused: fleet.path("refused"),
      name: `${seat}.${hired}`,
      seed: seed * 1_000 + hired,
      restMs: REST_MS,
    };
    return fleet.start(PRODUCER, settings);
  };
  const producers = Array.from({ length: PRODUCERS }, (_, seat) => startProducer(seat));
  await Promise.all(producers.map(({ ready }) => ready));
  return { producers, startProducer };
}

function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "millrace-chaos-clocks-"));
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

async function createDatabase(url: string, name: string): Promise<URL> {
  await administer(url, `CREATE DATABASE ${name}`);
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address;
}

async function dropDatabase(address: URL): Promise<void> {
  const server = new URL("/postgres", address);
  await administer(server.href, `DROP DATABASE ${address.pathname.slice(1)} WITH (FORCE)`);
}

async function administer(url: string, statement: string): Promise<void> {
  const client = await connect(url);
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
