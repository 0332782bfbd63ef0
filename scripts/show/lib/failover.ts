/** A server that is no primary for a while, as in a failover, under load. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { connect } from "../../../test/support/postgres.ts";
import type { PostgresServer } from "../../../test/support/postgres.ts";
import { seededDice } from "../../../test/support/seeded-dice.ts";
import { Fleet } from "./fleet.ts";
import type { Outcome } from "./fleet.ts";
import { produce, resumed } from "./load.ts";

const WORKERS = 2;
const PRODUCERS = 4;
const UP_MS = 1_000;

interface FailoverOptions {
  readonly rounds: number;
  /** How long the server takes no writes. */
  readonly readOnlyMs: number;
  readonly seed: number;
}

export interface FailoverFigures extends Outcome {
  /** For each round: from the first write that was possible until each worker works again. */
  readonly resumedMs: readonly number[];
  /** Connections that met the server without writes and were given up. */
  readonly left: number;
}

export async function playFailover(
  server: PostgresServer,
  { rounds, readOnlyMs, seed }: FailoverOptions,
): Promise<FailoverFigures> {
  const dice = seededDice(seed);
  await using fleet = await Fleet.open({
    url: server.url,
    workers: WORKERS,
    work: { lanes: { general: 10 } },
  });
  const operator = await connect(server.url);
  await operator.query("SET default_transaction_read_only = off");
  const stop = new AbortController();
  const producing = Promise.all(
    Array.from({ length: PRODUCERS }, (_, seat) => produce(fleet, seat, dice, stop.signal)),
  );
  await resumed(fleet);
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
  stop.abort();
  await producing;
  await operator.end();
  await fleet.drain();
  return { ...(await fleet.finish()), resumedMs, left };
}

async function setReadOnly(operator: Client, state: "on" | "off"): Promise<void> {
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
