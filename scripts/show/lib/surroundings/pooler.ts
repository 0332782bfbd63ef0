/** The jobs of a row through a pooler. */
import {
  findPgBouncer,
  startPgBouncer,
  type PoolMode,
} from "../../../../test/support/pgbouncer.ts";
import { startPooler } from "../../../../test/support/transaction-pooler.ts";
import { sail, type Outcome } from "./voyage.ts";

/** Fewer sessions than the processes of a row have connections. */
const SESSIONS = 8;
/** In session mode each connection has a session. */
const SESSIONS_OF_CONNECTIONS = 60;

export async function throughOwnPooler(server: string): Promise<Outcome> {
  await using pooler = await startPooler(server, SESSIONS);
  return await sail({ url: pooler.url, schema: "own_pooler" });
}

/** Where the system has it. */
export async function throughPgBouncer(server: string, mode: PoolMode): Promise<Outcome> {
  const program = findPgBouncer();
  if (program === null)
    return { happened: "skipped: PgBouncer is not installed", said: [], isSound: true };
  const sessions = mode === "transaction" ? SESSIONS : SESSIONS_OF_CONNECTIONS;
  await using pooler = await startPgBouncer(program.path, server, { mode, sessions });
  const outcome = await sail({ url: pooler.url, schema: `pooler_${mode}` });
  return { ...outcome, happened: `${outcome.happened} (${program.version})` };
}
