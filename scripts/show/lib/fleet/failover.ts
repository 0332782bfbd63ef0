/** A server that is no primary for a while, as in a failover, under load. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { connect } from "../../../../test/support/postgres.ts";
import type { PostgresServer } from "../../../../test/support/postgres.ts";
import { seededDice } from "../../../../test/support/seeded-dice.ts";
import type { Ending } from "./fleet.ts";
import { resumed, underLoad } from "./load.ts";

const UP_MS = 1_000;

interface FailoverOptions {
  readonly rounds: number;
  /** How long the server takes no writes. */
  readonly readOnlyMs: number;
  readonly seed: number;
}

export interface FailoverFigures extends Ending {
  /** For each round: from the first write that was possible until each worker works again. */
  readonly resumedMs: readonly number[];
  /** Connections that met the server without writes and were given up. */
  readonly left: number;
}

export async function playFailover(
  server: PostgresServer,
  { rounds, readOnlyMs, seed }: FailoverOptions,
): Promise<FailoverFigures> {
  const operator = await connect(server.url);
  await operator.query("SET default_transaction_read_only = off");
  try {
    return await underLoad(server.url, seededDice(seed), async (fleet) => {
      const resumedMs: number[] = [];
      let left = 0;
      for (let round = 0; round < rounds; round += 1) {
        await sleep(UP_MS);
        const before = await sessionsOf(operator);
        await setReadOnly(operator, "on");
        await sleep(readOnlyMs);
        await setReadOnly(operator, "off");
        resumedMs.push(await resumed(fleet));
        const after = new Set(await sessionsOf(operator));
        left += before.filter((pid) => !after.has(pid)).length;
      }
      return { resumedMs, left };
    });
  } finally {
    await operator.end();
  }
}

export async function setReadOnly(operator: Client, state: "on" | "off"): Promise<void> {
  await operator.query(`ALTER SYSTEM SET default_transaction_read_only = ${state}`);
  await operator.query("SELECT pg_reload_conf()");
}

/** The pool's connections that are there now, by their process. */
async function sessionsOf(operator: Client): Promise<number[]> {
  const { rows } = await operator.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'millrace'",
  );
  return rows.map(({ pid }) => pid);
}
