/**
 * What the store has acknowledged survives a crash of the server, also where `synchronous_commit`
 * is off. The server writes its log to the disk by itself only every ten seconds here, so each
 * crash loses commits that did not wait for the disk.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JobId } from "../../src/core/job.ts";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import type { JobStore } from "../../src/store/store.ts";
import { completed } from "../support/factories.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";
import { add, settleAll, stateOf, take } from "../support/steps.ts";

const JOBS = 80;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ settings: ["wal_writer_delay=10s", "checkpoint_timeout=1d"] });
});
afterAll(() => server[Symbol.asyncDispose]());

test.each(["SYSTEM", "ROLE postgres", "DATABASE postgres"])(
  "no job is lost in a crash where synchronous_commit is off for the %s (001-10)",
  async (level) => {
    await setCommits(level, "off");
    const store = await openStore();
    const ids: JobId[] = [];
    for (let count = 0; count < JOBS; count += 1) ids.push(...(await add(store, {})));
    await crash();
    expect(await storedOf(store, ids)).toEqual(ids);
    await store.close();
    await setCommits(level, "DEFAULT");
  },
);

test("no job is lost on connections that were open when the setting changed", async () => {
  const store = await openStore();
  await add(store, {});
  await setCommits("SYSTEM", "off");
  const ids = await add(store, {});
  await crash();
  expect(await storedOf(store, ids)).toEqual(ids);
  await store.close();
  await setCommits("SYSTEM", "DEFAULT");
});

test("the end of a run is not lost", async () => {
  await setCommits("SYSTEM", "off");
  const store = await openStore();
  const [id] = await add(store, {});
  await settleAll(store, await take(store), completed());
  await crash();
  expect(await stateOf(store, id)).toBe("completed");
  await store.close();
  await setCommits("SYSTEM", "DEFAULT");
});

let schemas = 0;

async function openStore(): Promise<JobStore> {
  const store = makePostgresStore({ url: server.url, schema: `durable_${(schemas += 1)}` });
  await store.open();
  return store;
}

async function crash(): Promise<void> {
  await server.stop("immediate");
  await server.start();
}

/** A change for the whole server is seen by open connections a moment later. */
async function setCommits(level: string, value: "off" | "DEFAULT"): Promise<void> {
  const client = await connect(server.url);
  await client.query(`ALTER ${level} SET synchronous_commit = ${value}`);
  await client.query("SELECT pg_reload_conf()");
  const isSet = async (): Promise<boolean> => {
    const { rows } = await client.query("SHOW synchronous_commit");
    return (rows[0].synchronous_commit === "off") === (value === "off");
  };
  if (level === "SYSTEM") while (!(await isSet()));
  await client.end();
}

/** Which of these jobs the store still has. */
async function storedOf(store: JobStore, ids: readonly JobId[]): Promise<readonly JobId[]> {
  const jobs = await Promise.all(ids.map((id) => store.get(id)));
  return jobs.flatMap((job) => (job === null ? [] : [job.id]));
}
