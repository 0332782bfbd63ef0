/** Which users of the database can take the role of the second line of tenants, by release. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tenantStore } from "../../../src/client/tenants/tenant-store.ts";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import {
  connect,
  oldestPostgres,
  startPostgres,
  type PostgresServer,
} from "../../support/postgres.ts";
import { fillTenants, OTHER, OWN } from "../../support/tenants/scene.ts";

const RELEASES = [
  { release: "newest", bin: undefined },
  { release: "oldest", bin: oldestPostgres() },
] as const;

describe.each(RELEASES)("on the $release release", ({ release, bin }) => {
  let server: PostgresServer;
  beforeAll(async () => {
    if (bin !== null) server = await startPostgres({ durable: false, ...(bin && { bin }) });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  // The first test: the role must not exist before.
  test("a user with CREATEROLE creates the role and takes it", async (context) => {
    if (bin === null) return context.skip("npm has no oldest release for this platform");
    await asSuperuser("CREATE ROLE creator LOGIN CREATEROLE");
    expect(await installAs("creator")).toEqual({ isActive: true, ownJobs: true, foreign: false });
  });

  test("a user who was granted the role takes it", async (context) => {
    if (bin === null) return context.skip("npm has no oldest release for this platform");
    await asSuperuser("CREATE ROLE granted LOGIN; GRANT millrace_tenant TO granted");
    expect(await installAs("granted")).toEqual({ isActive: true, ownJobs: true, foreign: false });
  });

  test("a member who may not take the role reads by the first line", async (context) => {
    if (release === "oldest") return context.skip("PostgreSQL 15 has no grants without SET");
    await asSuperuser(
      "CREATE ROLE member LOGIN; GRANT millrace_tenant TO member WITH SET FALSE, INHERIT FALSE",
    );
    expect(await installAs("member")).toEqual({ isActive: false, ownJobs: true, foreign: false });
  });

  test("a role for backups needs BYPASSRLS, and the doctor names it", async (context) => {
    if (bin === null) return context.skip("npm has no oldest release for this platform");
    const store = makePostgresStore({ url: server.url, schema: "dumped" });
    await store.open();
    await fillTenants(store);
    await asSuperuser("CREATE ROLE backup LOGIN; GRANT pg_read_all_data TO backup");
    const named = async (): Promise<string[]> => {
      const { findings } = await store.examine();
      return findings.filter(({ name }) => name === "backup role").map(({ found }) => found);
    };
    const all = (await store.count({}, 1_000)).count;

    expect(await named()).toEqual([expect.stringContaining("the role backup")]);
    expect(await dumpedAs("backup", "off")).toContain("row-level security");
    expect(await dumpedAs("backup", "on")).toBe(all);
    await asSuperuser("ALTER ROLE backup BYPASSRLS");
    expect(await dumpedAs("backup", "off")).toBe(all);
    expect(await named()).toEqual([]);
    await store.close();
  });

  /** How many jobs a dump has, or why it fails. `pg_dump` sets `row_security` to off by default. */
  async function dumpedAs(user: string, rowSecurity: "on" | "off"): Promise<number | string> {
    const client = await connect(Object.assign(new URL(server.url), { username: user }).toString());
    try {
      await client.query(`SET row_security = ${rowSecurity}`);
      return Number((await client.query("SELECT count(*) FROM dumped.job")).rows[0].count);
    } catch (error) {
      return String(error);
    } finally {
      await client.end();
    }
  }

  async function asSuperuser(statements: string): Promise<void> {
    const client = await connect(server.url);
    await client.query(statements);
    await client.end();
  }

  /** Installs a schema as the user, and reads for a tenant. */
  async function installAs(user: string) {
    await asSuperuser(
      `GRANT CREATE ON DATABASE "${new URL(server.url).pathname.slice(1)}" TO ${user}`,
    );
    const url = Object.assign(new URL(server.url), { username: user }).toString();
    const store = makePostgresStore({ url, schema: user });
    await store.open();
    const { other, own } = await fillTenants(store);
    const { findings } = await store.examine();
    const reader = tenantStore(store, OWN);
    const { jobs } = await reader.list({}, { limit: 100 });
    const answer = {
      isActive: findings.every(({ name }) => name !== "tenant_reads"),
      ownJobs: (await reader.get(own.queued)) !== null,
      foreign:
        (await reader.get(other.queued)) !== null || jobs.some(({ tenant }) => tenant === OTHER),
    };
    await store.close();
    return answer;
  }
});
