import { Duplex } from "node:stream";
import { Client, Pool, type PoolConfig } from "pg";
import { afterEach, describe, expect, test } from "vitest";
import { optionsOf, plainOptionsOf, sizeOf } from "./callers-pool.ts";

const FIELDS = { host: "db.example", port: 6_000, user: "ada", database: "jobs" };

afterEach(() => {
  delete process.env["PGHOST"];
});

describe("a pool whose options are plain", () => {
  test("is described with its password, which pg hides", () => {
    const pool = new Pool({ ...FIELDS, password: "secret", max: 4 });
    expect(Object.keys(pool.options)).not.toContain("password");
    expect(plainOptionsOf(pool)).toMatchObject({ ...FIELDS, password: "secret" });
    expect(optionsOf(pool)).toMatchObject({ ...FIELDS, password: "secret" });
    expect(sizeOf(pool)).toBe(4);
  });

  test("is described by the parts of its URL", () => {
    const connectionString = "postgres://ada:se%20cret@db.example:6000/jobs";
    expect(plainOptionsOf(new Pool({ connectionString }))).toMatchObject({
      ...FIELDS,
      password: "se cret",
    });
  });

  test("is described by what the environment adds, now and not later", () => {
    process.env["PGHOST"] = "env.example";
    const plain = plainOptionsOf(new Pool({ user: "ada", database: "jobs" }));
    delete process.env["PGHOST"];
    expect(plain).toMatchObject({ host: "env.example", user: "ada", database: "jobs" });
  });

  test("is described with the key of its certificate, which pg hides", () => {
    const ssl = { ca: "authority", cert: "certificate", key: "private" };
    const pool = new Pool({ ...FIELDS, ssl });
    expect(Object.keys(ssl)).not.toContain("key");
    const expected = { ca: "authority", cert: "certificate", key: "private" };
    expect(plainOptionsOf(pool)).toHaveProperty("ssl", expected);
    expect(optionsOf(pool)).toHaveProperty("ssl", expected);
  });
});

describe("a pool whose options no thread can use", () => {
  class OwnClient extends Client {}
  const ssl = { checkServerIdentity: () => undefined };

  test.each<readonly [PoolConfig, RegExp]>([
    [{ password: () => "secret" }, /password of the pool is a function/],
    [{ Client: OwnClient }, /own class of clients/],
    [{ stream: () => new Duplex() }, /own streams/],
    [{ ssl }, /cannot be passed to a thread/],
  ])("says why: %o", (options, why) => {
    const pool = new Pool({ ...FIELDS, ...options });
    expect(plainOptionsOf(pool)).toEqual({ missing: expect.stringMatching(why) });
    expect(optionsOf(pool)).toMatchObject(FIELDS);
  });

  test("says that a pool of another library does not reveal them", () => {
    const pool = new Pool(FIELDS);
    const other = {
      connect: () => pool.connect(),
      end: () => pool.end(),
      on: () => pool,
      off: () => pool,
    };
    expect(optionsOf(other)).toBeNull();
    expect(sizeOf(other)).toBeNull();
    expect(plainOptionsOf(other)).toEqual({ missing: expect.stringContaining("reveal") });
  });
});
