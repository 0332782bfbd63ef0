/** Pairs of transactions that enqueue, and whose commits come in the wrong order if they can. */
import { DatabaseSync } from "node:sqlite";
import type { Client } from "pg";
import { defineJob } from "millrace";
import type { Millrace } from "millrace";
import { connect } from "../../../../test/support/postgres.ts";
import { until } from "../until.ts";

export const late = defineJob({ type: "late" });

const READ_MS_MAX = 20_000;

/** What the process that runs the jobs is told. */
export interface LateSettings {
  readonly url: string;
}

/** One round: two jobs, and whether the first to be written was the last to be committed. */
export interface Round {
  readonly ids: readonly [first: string, second: string];
  /** The second was committed, and read, while the first was not committed yet. */
  readonly isReversed: boolean;
  /** What kept it from being so. */
  readonly refusal: string | null;
}

export interface Pairs extends AsyncDisposable {
  play(mill: Millrace, hasRead: (id: string) => boolean): Promise<Round>;
}

/** Numbers are given in the transactions; the one with the smaller number commits last. */
export async function pairsOnPostgres(url: string): Promise<Pairs> {
  const address = new URL(url);
  const schema = address.searchParams.get("schema") ?? "millrace";
  address.searchParams.delete("schema");
  const [first, second] = [await connect(address.href), await connect(address.href)];
  return {
    async play(mill, hasRead) {
      await Promise.all([first.query("BEGIN"), second.query("BEGIN")]);
      const early = await mill.enqueue(late, undefined, { tx: first });
      const other = await mill.enqueue(late, undefined, { tx: second });
      const numbers = [await numberIn(first, schema), await numberIn(second, schema)] as const;
      await second.query("COMMIT");
      await until("the later one is read", READ_MS_MAX, () => hasRead(other.id));
      const isUnread = !hasRead(early.id);
      await first.query("COMMIT");
      const isReversed = numbers[0] < numbers[1] && isUnread;
      return { ids: [early.id, other.id], isReversed, refusal: null };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([first.end(), second.end()]);
    },
  };
}

/** The number of the event that this transaction has written. */
async function numberIn(client: Client, schema: string): Promise<number> {
  const { rows } = await client.query<{ number: string }>(
    `SELECT max(number) AS number FROM "${schema}".event_outbox
     WHERE xmin = pg_current_xact_id()::xid`,
  );
  return Number(rows[0]?.number ?? Number.NaN);
}

/**
 * The file has one writer at a time: the second transaction cannot write before the first has
 * committed, whichever way it begins.
 */
export async function pairsOnSqlite(url: string): Promise<Pairs> {
  const path = url.slice("sqlite:".length);
  const [first, second] = [new DatabaseSync(path), new DatabaseSync(path)];
  for (const handle of [first, second]) handle.exec("PRAGMA busy_timeout = 5000");
  let rounds = 0;
  return {
    async play(mill, hasRead) {
      // By turns: it asks for the lock at once, or begins to read and asks when it writes.
      const begin = (rounds += 1) % 2 === 0 ? "BEGIN IMMEDIATE" : "BEGIN";
      first.exec("BEGIN IMMEDIATE");
      const early = await mill.enqueue(late, undefined, { tx: first });
      const refusal = refusalOf(second, begin);
      first.exec("COMMIT");
      await until("the first is read", READ_MS_MAX, () => hasRead(early.id));
      second.exec("BEGIN IMMEDIATE");
      const other = await mill.enqueue(late, undefined, { tx: second });
      second.exec("COMMIT");
      return { ids: [early.id, other.id], isReversed: false, refusal };
    },
    async [Symbol.asyncDispose]() {
      first.close();
      second.close();
    },
  };
}

/** Why a second transaction may not write while the first is open; null: it may. */
function refusalOf(handle: DatabaseSync, begin: string): string | null {
  handle.exec("PRAGMA busy_timeout = 0");
  try {
    handle.exec(begin);
    handle.exec("UPDATE millrace_meta SET value = value");
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    if (handle.isTransaction) handle.exec("ROLLBACK");
    handle.exec("PRAGMA busy_timeout = 5000");
  }
}
