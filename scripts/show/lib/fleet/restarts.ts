/** A server that crashes and comes back, and whose backends are ended, under load. */
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../../../test/support/postgres.ts";
import type { PostgresServer } from "../../../../test/support/postgres.ts";
import { seededDice } from "../../../../test/support/seeded-dice.ts";
import type { Ending } from "./fleet.ts";
import { resumed, underLoad, type Dice } from "./load.ts";

const DOWN_MS_MAX = 1_500;
const UP_MS = 1_000;
const TERMINATE_EVERY_MS = 30;

interface RestartOptions {
  readonly rounds: number;
  readonly terminations: number;
  readonly seed: number;
}

export interface RestartFigures extends Ending {
  /** For each round: from the server's first answer until each worker has ended a new order. */
  readonly resumedMs: readonly number[];
  readonly terminated: number;
  /** The same after the last backend was ended. */
  readonly terminatedResumedMs: number;
}

/** Plays all rounds on a server that waits for its disk. */
export async function playRestarts(
  server: PostgresServer,
  { rounds, terminations, seed }: RestartOptions,
): Promise<RestartFigures> {
  const dice = seededDice(seed);
  return underLoad(server.url, dice, async (fleet) => {
    const resumedMs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await sleep(UP_MS);
      await server.stop("immediate");
      await sleep(dice.random() * DOWN_MS_MAX);
      await server.start();
      resumedMs.push(await resumed(fleet));
    }
    const terminated = await terminate(server, terminations, dice);
    return { resumedMs, terminated, terminatedResumedMs: await resumed(fleet) };
  });
}

/** Ends backends of the producer and the workers, one after the other, chosen at random. */
async function terminate(server: PostgresServer, count: number, dice: Dice): Promise<number> {
  const client = await connect(server.url);
  try {
    let terminated = 0;
    while (terminated < count) {
      await sleep(TERMINATE_EVERY_MS);
      const { rows } = await client.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'millrace%' ORDER BY pid",
      );
      const victim = rows[Math.floor(dice.random() * rows.length)];
      if (victim === undefined) continue;
      const { rows: answers } = await client.query<{ done: boolean }>(
        "SELECT pg_terminate_backend($1) AS done",
        [victim.pid],
      );
      if (answers[0]?.done === true) terminated += 1;
    }
    return terminated;
  } finally {
    await client.end();
  }
}
