/** The jobs of a row through a pooler in transaction mode. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "../../../../test/support/postgres.ts";
import { startPooler } from "../../../../test/support/transaction-pooler.ts";
import { until } from "../until.ts";
import { sail, type Outcome } from "./voyage.ts";

const PORT = 6_433;
const START_MS_MAX = 10_000;

/** Fewer sessions than the processes of a row have connections. */
const SESSIONS = 8;

export async function throughOwnPooler(server: string): Promise<Outcome> {
  await using pooler = await startPooler(server, SESSIONS);
  return await sail({ url: pooler.url, schema: "own_pooler" });
}

/** Where the system has it. */
export async function throughPgBouncer(server: string): Promise<Outcome> {
  if (spawnSync("pgbouncer", ["--version"]).status !== 0)
    return { happened: "skipped: pgbouncer is not on the PATH", said: [], isSound: true };
  const folder = mkdtempSync(join(tmpdir(), "millrace-pooler-"));
  // PgBouncer refuses to run as root and reads its file as another user.
  chmodSync(folder, 0o755);
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(file, configuration(new URL(server)));
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const pooler = spawn("pgbouncer", [...user, file], { stdio: "ignore" });
  try {
    const address = new URL(server);
    address.port = String(PORT);
    await until("PgBouncer answers", START_MS_MAX, () => isReached(address.href));
    return await sail({ url: address.href, schema: "pooler" });
  } finally {
    pooler.kill();
    rmSync(folder, { recursive: true });
  }
}

function configuration({ hostname, port, username }: URL): string {
  return `[databases]
postgres = host=${hostname} port=${port} user=${username} dbname=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${PORT}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${SESSIONS}
`;
}

async function isReached(url: string): Promise<boolean> {
  try {
    await (await connect(url)).end();
    return true;
  } catch {
    return false;
  }
}
