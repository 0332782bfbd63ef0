/**
 * Whether commits wait for the disk where `synchronous_commit` is off: a trigger that fires at each
 * commit stores the setting that is in force then. `test/postgres/durability.test.ts` crashes real
 * servers.
 */
import type { Client } from "pg";
import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import { completed, failedWith, newJob, newToken } from "../../support/factories.ts";
import { add, at, joinWorker, settleAll, startAll, take } from "../../support/steps.ts";
import type { Connections, PostgresTestStore } from "../../support/stores.ts";

const LANE = { kind: "lane", name: "general" } as const;
const KEYED = { dedup: { key: "order 7", onConflict: "skip" } } as const;
const TABLES = "job, lease, run_start, attempt, phase, run, gate, worker, event, api_token".split(
  ", ",
);

/** Does what comes before a verb, and answers the verb. */
type Verb = (store: JobStore) => Promise<() => Promise<unknown>>;

const VERBS: Readonly<Record<string, Verb>> = {
  "enqueue of one job": async (store) => () => add(store, {}),
  "enqueue of different jobs": async (store) => () => add(store, { priority: 1 }, { priority: 2 }),
  "enqueue with a key": async (store) => () => add(store, KEYED),
  register: async (store) => () => joinWorker(store),
  pause: async (store) => () => store.pause(LANE, { reason: "repair", by: null }),
  claim: async (store) => {
    await add(store, {});
    const worker = await joinWorker(store);
    return () => take(store, { worker });
  },
  startPrefetched: async (store) => {
    await add(store, {});
    const batch = await take(store, { prefetch: true });
    return () => startAll(store, batch);
  },
  "settle of a success": async (store) => {
    await add(store, {});
    const batch = await take(store);
    return () => settleAll(store, batch, completed());
  },
  "settle of a failure": async (store) => {
    await add(store, {});
    const batch = await take(store);
    return () => settleAll(store, batch, failedWith());
  },
  "record of a phase": async (store) => {
    await add(store, {});
    const { lease, jobs } = await take(store);
    const { key, n } = at(jobs, 0);
    return () => store.record([{ lease, key, n, completed: { name: "load", result: "7" } }]);
  },
  createToken: async (store) => () => store.createToken(newToken()),
  revokeToken: async (store) => {
    const token = newToken();
    await store.createToken(token);
    return () => store.revokeToken(token.id);
  },
  "numbering of the feed": async (store) => {
    await add(store, {});
    return () => store.feedEnd();
  },
};

export function commitsSuite(open: (connections: Connections) => Promise<PostgresTestStore>): void {
  describe("a commit where synchronous_commit is off", () => {
    test.each(Object.keys(VERBS))("waits for the disk: %s", async (name) => {
      await using scene = await openScene(await open("unsynced"));
      const verb = await VERBS[name]!(scene.store);
      expect(await scene.commitsOf(verb)).toEqual(["on"]);
    });

    test("does not wait for the disk: the use of a token", async () => {
      await using scene = await openScene(await open("unsynced"));
      const { store } = scene;
      const token = newToken();
      await store.createToken(token);
      expect(await scene.commitsOf(() => store.markTokensUsed([token.id]))).toEqual(["off"]);
    });

    test("does not wait for the disk: progress, which the next note repeats", async () => {
      await using scene = await openScene(await open("unsynced"));
      const { store } = scene;
      await add(store, {});
      const { lease, jobs } = await take(store);
      const { key, n } = at(jobs, 0);
      const progress = { phase: null, phases: [], percent: 5, overall: 5, data: null };
      const commits = await scene.commitsOf(() => store.record([{ lease, key, n, progress }]));
      expect(commits).toEqual(["off"]);
    });

    test("leaves the setting of a connection as it was", async () => {
      await using scene = await openScene(await open("unsynced"));
      await joinWorker(scene.store);
      await add(scene.store, {});
      await add(scene.store, KEYED);
      expect(await scene.setting()).toBe("off");
    });
  });

  describe("the commit of a caller's transaction", () => {
    test.each([
      ["off", "on", {}],
      ["off", "on", KEYED],
      ["local", "local", {}],
      ["remote_apply", "remote_apply", {}],
      ["remote_apply", "remote_apply", KEYED],
    ])("with synchronous_commit = %s has %s after an enqueue", async (before, after, job) => {
      await using db = await open("shared");
      const client = await db.pool.connect();
      await client.query(`BEGIN; SET LOCAL synchronous_commit = ${before}`);
      await db.store.enqueueInTransaction(client, [newJob(job)]);
      expect(await settingOf(client)).toBe(after);
      await client.query("COMMIT");
      expect(await settingOf(client)).toBe("on");
      client.release();
    });
  });
}

/** A store that stores the setting of each of its commits. */
async function openScene(db: PostgresTestStore) {
  const { store, pool, schema } = db;
  await pool.query(`CREATE TABLE ${schema}.commits (setting text);
    CREATE FUNCTION ${schema}.keep_setting() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
      INSERT INTO ${schema}.commits VALUES (current_setting('synchronous_commit'));
      RETURN NULL;
    END $$;`);
  for (const table of TABLES) {
    await pool.query(`CREATE CONSTRAINT TRIGGER keep_setting
      AFTER INSERT OR UPDATE OR DELETE ON ${schema}.${table} DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION ${schema}.keep_setting()`);
  }
  return {
    store,
    setting: () => settingOf(db.stores),
    /** The settings in force at the commits of a verb. */
    async commitsOf(verb: () => Promise<unknown>): Promise<readonly string[]> {
      await pool.query(`TRUNCATE ${schema}.commits`);
      await verb();
      const { rows } = await pool.query(`SELECT DISTINCT setting FROM ${schema}.commits`);
      return rows.map(({ setting }) => setting);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await pool.query(
        `DROP FUNCTION ${schema}.keep_setting CASCADE; DROP TABLE ${schema}.commits`,
      );
      await db[Symbol.asyncDispose]();
    },
  };
}

async function settingOf(client: Pick<Client, "query">): Promise<unknown> {
  const { rows } = await client.query("SHOW synchronous_commit");
  return rows[0].synchronous_commit;
}
