/** Row level security as the second line of tenants. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { tenantStore } from "../../../src/client/tenants/tenant-store.ts";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import type { PostgresJobStore } from "../../../src/store/postgres/store.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres.ts";
import { fillTenants, OTHER, OWN, type TenantScene } from "../../support/tenants/scene.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

test("reads for a tenant see no row of another one, although they have no filter", async () => {
  const store = makePostgresStore({ url: server.url, schema: "second line" });
  await store.open();
  const scene = await fillTenants(store);
  const isActive = (await store.examine()).findings.every(({ name }) => name !== "tenant_reads");
  expect(isActive).toBe(true);

  expect((await seenBy(store, scene, () => store.tenantReads)).foreign).toEqual([]);
  // The same reads by the engine, and with the right tenant.
  const all = await seenBy(store, scene, () => ({ as: (_tenant, read) => read() }));
  expect(all.foreign.length).toBeGreaterThan(8);
  const own = await seenBy(store, scene, () => ({
    as: (_tenant, read) => store.tenantReads.as(OTHER, read),
  }));
  expect(own.foreign).toEqual(all.foreign);
  await store.close();
});

test("a name that the store does not know sees nothing", async () => {
  const store = makePostgresStore({ url: server.url, schema: "unheard" });
  await store.open();
  await fillTenants(store);
  const found = await store.tenantReads.as("unheard of", () => store.list({}, { limit: 9 }));
  expect(found.jobs).toEqual([]);
  await store.close();
});

test("a tenant sees what holds its jobs back, and their histories", async () => {
  const store = makePostgresStore({ url: server.url, schema: "held" });
  await store.open();
  await fillTenants(store);
  const own = tenantStore(store, OWN);
  const { jobs } = await own.list({ states: ["queued"] }, { limit: 100 });
  const [first] = jobs.filter(({ heldBy }) => heldBy === null);
  const gate = { kind: "lane", name: first?.lane ?? "" } as const;
  await store.pause(gate, { reason: "maintenance", by: null });

  expect((await own.get(first?.id ?? ""))?.heldBy).toEqual(gate);
  const all = await own.list({}, { limit: 100 });
  expect(all.jobs.find(({ id }) => id === first?.id)?.heldBy).toEqual(gate);
  const ids = all.jobs.map(({ id }) => id);
  const histories = await own.histories(ids, { units: 10, logs: 10 });
  expect(histories.map(({ attempts }) => attempts)).toEqual(
    await Promise.all(ids.map((id) => own.attempts(id))),
  );
  expect(histories.some(({ attempts }) => attempts.length > 0)).toBe(true);
  expect(histories.every(({ progress }) => progress !== null)).toBe(true);
  await store.close();
});

test("reads side by side keep their tenants apart", async () => {
  const store = makePostgresStore({ url: server.url, schema: "side by side" });
  await store.open();
  await fillTenants(store);
  const listed = await Promise.all(
    Array.from({ length: 30 }, async (_, n) => {
      const read = () => store.list({}, { limit: 100 });
      const { jobs } =
        n % 3 === 2 ? await read() : await store.tenantReads.as(n % 3 ? OWN : OTHER, read);
      return [...new Set(jobs.map(({ tenant }) => tenant))].toSorted();
    }),
  );
  listed.forEach((tenants, n) => {
    expect(tenants).toEqual(n % 3 === 2 ? [OTHER, OWN].toSorted() : [n % 3 ? OWN : OTHER]);
  });
  await store.close();
});

test("a user who may not create roles installs the schema, and the doctor says so", async () => {
  const { url, run } = await plainUser();
  await run();
  const store = makePostgresStore({ url, schema: "plain" });
  await store.open();
  const scene = await fillTenants(store);
  const names = (await store.examine()).findings.map(({ name }) => name);
  expect(names).toContain("tenant_reads");
  // The first line still holds.
  const own = tenantStore(store, OWN);
  expect(await own.get(scene.other.queued)).toBeNull();
  expect((await own.list({}, { limit: 100 })).jobs.map(({ tenant }) => tenant)).not.toContain(
    OTHER,
  );
  await store.close();
});

test("an outage at the first read of a tenant ends with the outage", async () => {
  const store = makePostgresStore({ url: server.url, schema: "outage" });
  await store.open();
  const { own } = await fillTenants(store);
  await server.stop("fast");
  const reader = tenantStore(store, OWN);
  await expect(reader.get(own.queued)).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
  await server.start();
  expect(await reader.get(own.queued)).toMatchObject({ tenant: OWN });
  await store.close();
});

/** Everything that reads tell about the jobs of the other tenant. */
async function seenBy(
  store: PostgresJobStore,
  { other }: TenantScene,
  readsOf: () => PostgresJobStore["tenantReads"],
): Promise<{ foreign: string[] }> {
  const reads = readsOf();
  const foreign: string[] = [];
  const { jobs } = await reads.as(OWN, () => store.list({}, { limit: 100 }));
  foreign.push(...jobs.filter(({ tenant }) => tenant === OTHER).map(({ id }) => `list ${id}`));
  const letters = await reads.as(OWN, () => store.deadLetters({}, { limit: 100 }));
  foreign.push(...letters.filter(({ tenant }) => tenant === OTHER).map(({ id }) => `letter ${id}`));
  if ((await reads.as(OWN, () => store.countLetters({ tenant: OTHER }, 100))) > 0) {
    foreign.push("countLetters");
  }
  const { groups } = await reads.as(OWN, () =>
    store.letterGroups({ rows: 100, groups: 100 }, OTHER),
  );
  if (groups.length > 0) foreign.push("letterGroups");
  for (const id of Object.values(other)) {
    const one = (call: () => Promise<unknown>): Promise<unknown> => reads.as(OWN, call);
    const found = {
      get: await one(() => store.get(id)),
      attempts: await one(() => store.attempts(id)),
      progress: await one(() => store.progress(id)),
      units: await one(() => store.units(id, {}, { limit: 10 })),
      logs: await one(() => store.logs(id, { limit: 10 })),
      deadLetter: await one(() => store.deadLetter(id)),
      tenantsOf: (await reads.as(OWN, () => store.tenantsOf([id]))).filter((each) => each !== null),
    };
    for (const [verb, answer] of Object.entries(found)) {
      const isEmpty = answer === null || (Array.isArray(answer) && answer.length === 0);
      if (!isEmpty) foreign.push(`${verb} ${id}`);
    }
  }
  return { foreign };
}

async function plainUser(): Promise<{ url: string; run: () => Promise<void> }> {
  const url = new URL(server.url);
  const { default: pg } = await import("pg");
  const database = url.pathname.slice(1);
  return {
    url: Object.assign(new URL(server.url), { username: "plain" }).toString(),
    async run() {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      await client.query(
        `CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE "${database}" TO plain`,
      );
      await client.end();
    },
  };
}
