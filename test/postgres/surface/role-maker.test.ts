/** `millrace migrate --roles` as a user who owns the database and may create roles, and no more. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type } from "../../cli/command-line.ts";
import {
  connect,
  oldestPostgres,
  startPostgres,
  type PostgresServer,
} from "../../support/postgres.ts";

const bin = oldestPostgres();
const RELEASES: readonly (readonly [string, object])[] = [
  ["the newest PostgreSQL", {}],
  ...(bin === null ? [] : [["the oldest PostgreSQL", { bin }] as const]),
];

describe.each(RELEASES)("on %s, the owner of the database", (_, options) => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ durable: false, ...options });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function databaseOf(user: string): Promise<string> {
    const admin = await connect(server.url);
    await admin.query(`CREATE ROLE ${user} LOGIN CREATEROLE`);
    await admin.query(`CREATE DATABASE ${user} OWNER ${user}`);
    await admin.end();
    return server.url
      .replace("postgres@", `${user}@`)
      .replace(/postgres$/, `${user}?schema=${user}`);
  }

  const plain = (db: string): string => db.replace(/\?.*/, "");

  test("makes the roles, again too, and doctor finds nothing", async () => {
    const db = await databaseOf("dba");
    expect(await type("migrate", "--db", db)).toMatchObject({ code: 0 });
    const make = ["migrate", "--roles", "--db", db] as const;
    expect(await type(...make)).toMatchObject({ code: 0, err: "" });
    expect(await type(...make)).toMatchObject({ code: 0, err: "" });
    const client = await connect(plain(db));
    const { rows } = await client.query(
      `SELECT nspacl::text AS acl, pg_get_userbyid(nspowner) AS owner
       FROM pg_namespace WHERE nspname = 'dba'`,
    );
    expect(rows[0].owner).toBe("dba_owner");
    // What an owner has anyway, and what the roles are granted.
    expect(rows[0].acl).toContain("dba_owner=UC/dba_owner");
    expect(rows[0].acl).not.toContain("dba=");
    const { rows: findings } = await client.query("SELECT * FROM dba.role_findings()");
    expect(findings).toEqual([]);
    await client.end();
    expect((await type("doctor", "-o", "json", "--db", db)).out).not.toContain('"roles"');
    expect(await type("migrate", "--db", db)).toMatchObject({ code: 0 });
  });

  test("may run the printed statements, again too", async () => {
    const db = await databaseOf("printer");
    await type("migrate", "--db", db);
    const { out } = await type("migrate", "--roles", "--print", "--db", db);
    const client = await connect(plain(db));
    await client.query(out);
    const again = await type("migrate", "--roles", "--print", "--db", db);
    await client.query(again.out);
    const { rows } = await client.query("SELECT * FROM printer.role_findings()");
    expect(rows).toEqual([]);
    await client.end();
  });

  test("shares the roles of another database only if asked to", async () => {
    const first = await databaseOf("sharer");
    await type("migrate", "--db", first);
    await type("migrate", "--roles", "--db", first);
    const admin = await connect(server.url);
    await admin.query("CREATE DATABASE second OWNER sharer");
    await admin.end();
    const second = first.replace("/sharer?", "/second?");
    await type("migrate", "--db", second);
    for (const more of [[], ["--print"]]) {
      const { code, err } = await type("migrate", "--roles", ...more, "--db", second);
      expect(code).not.toBe(0);
      expect(err).toMatch(
        /sharer_owner owns objects of another database \(.*sharer.*--shared-roles/s,
      );
    }
    const shared = await type("migrate", "--roles", "--shared-roles", "--db", second);
    expect(shared).toMatchObject({ code: 0, err: "" });
  });
});
