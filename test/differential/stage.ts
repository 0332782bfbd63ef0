/** The model and both databases, empty, each with a caller who has transactions of his own. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../src/core/clock.ts";
import { MillraceError } from "../../src/core/errors.ts";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import type { JobStore } from "../../src/store/store.ts";
import type { NewJob } from "../../src/store/types/jobs-and-runs.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { seededDice } from "../support/seeded-dice.ts";
import { openPostgres, type PostgresTestStore } from "../support/stores.ts";
import { virtualClock } from "../support/virtual-clock.ts";
import { enqueueInside } from "./model/enqueue.ts";
import { modelStore, type Compared, type ModelStore } from "./model/model.ts";
import type { Inside, Subject } from "./perform.ts";

/** Puts something else in the place of a store: a planted difference. */
export type Plant = (name: string, store: Compared) => Compared;

export interface Stage extends AsyncDisposable {
  readonly model: ModelStore;
  /** The model comes first: the others are compared with it. */
  readonly subjects: readonly Subject[];
  /** Time goes by for all of them. */
  advance(ms: number): Promise<void>;
}

/** Memory where the system offers it: what is compared here is not the disk. */
const ROOT = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export async function openStage(
  server: PostgresServer,
  plant: Plant = (_name, store) => store,
): Promise<Stage> {
  const folder = await mkdtemp(join(ROOT, "millrace-"));
  const path = join(folder, "millrace.db");
  const clock = virtualClock();
  const sqlite = makeSqliteStore({ path }, { clock, dice: seededDice(1) });
  await sqlite.open();
  const handle = new DatabaseSync(path);
  const postgres = await openPostgres(server, "shared");
  const unhurried = makePostgresStore(
    { pool: postgres.pool, schema: postgres.schema },
    { clock: leaping(postgres.clock), dice: seededDice(2) },
  );
  await unhurried.open();
  const model = modelStore(clock);
  return {
    model,
    subjects: [
      subjectOf("model", plant("model", model), async (jobs, commits) =>
        enqueueInside(model.world, jobs, commits),
      ),
      subjectOf("SQLite", plant("SQLite", sqlite), insideSqlite(sqlite, handle)),
      {
        ...subjectOf(
          "PostgreSQL",
          plant("PostgreSQL", unhurried),
          insidePostgres(unhurried, postgres),
        ),
        calm: () => proceedAll(unhurried, postgres, model),
      },
    ],
    async advance(ms) {
      await clock.advance(ms);
      await postgres.clock.advance(ms);
    },
    async [Symbol.asyncDispose]() {
      handle.close();
      await sqlite.close();
      await unhurried.close();
      await postgres[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

function subjectOf(name: string, store: Compared, inside: Inside): Subject {
  const calm = async (): Promise<void> => {};
  return { name, store, inside, claims: [], ids: new Map(), calm, position: 0 };
}

/** After its answer, the store tells those who waited for ended jobs; this waits for it. */
async function proceedAll(
  store: JobStore,
  { pool, schema }: PostgresTestStore,
  { world }: ModelStore,
): Promise<void> {
  if (![...world.jobs.values()].some(({ asked }) => asked.after.length > 0)) return;
  for (;;) {
    const moved = await store.resolveDependencies(1_000);
    const { rows } = await pool.query(`SELECT 1 FROM "${schema}".finished_dependency LIMIT 1`);
    if (moved === 0 && rows.length === 0) return;
  }
}

function insideSqlite(store: JobStore, handle: DatabaseSync): Inside {
  return async (jobs, commits) => {
    handle.exec("BEGIN IMMEDIATE");
    const answer = await answerOf(store, handle, jobs);
    handle.exec(commits ? "COMMIT" : "ROLLBACK");
    return answer;
  };
}

/**
 * Between any two looks so much time goes by that a claim looks from the beginning. Otherwise it
 * may overlook for a moment what has come to lie before the jobs that it took last.
 */
function leaping(clock: Clock): Clock {
  let steady = 0;
  return {
    now: () => clock.now(),
    monotonic: () => (steady += 60_000),
    after: (ms, action) => clock.after(ms, action),
  };
}

function insidePostgres(store: JobStore, { pool }: PostgresTestStore): Inside {
  return async (jobs, commits) => {
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      const answer = await answerOf(store, client, jobs);
      // An aborted transaction makes a ROLLBACK of its COMMIT.
      await client.query(commits ? "COMMIT" : "ROLLBACK");
      return answer;
    } finally {
      client.release();
    }
  };
}

async function answerOf(store: JobStore, tx: unknown, jobs: readonly NewJob[]): ReturnType<Inside> {
  try {
    return await store.enqueueInTransaction(tx, jobs);
  } catch (error) {
    if (error instanceof MillraceError) return error.code;
    throw error;
  }
}
