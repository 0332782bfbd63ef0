import { Pool as PgPoolOfPg } from "pg";
import { describe, expect, test, vi } from "vitest";
import { driverError, Pool, type PgClient, type PgPool } from "./pool.ts";

describe("a pool of connections", () => {
  test("closes all connections to a server that is read-only", async () => {
    const { pool, released } = await openPool();
    // Two at once, so that the pool opens two connections.
    await Promise.all([pool.withConnection(nothing), pool.withConnection(nothing)]);
    await expect(pool.withConnection(() => Promise.reject(readOnly()))).rejects.toThrow(
      "read-only",
    );
    const next = await pool.withConnection((client) => Promise.resolve(client));
    expect(released).toEqual([
      ["first", false],
      ["second", false],
      ["second", true],
      ["first", true],
      ["third", false],
    ]);
    expect(next).toHaveProperty("name", "third");
  });

  test("closes a connection that does not answer, and those without an answer since", async () => {
    const { pool, released } = await openPool();
    await Promise.all([pool.withConnection(nothing), pool.withConnection(nothing)]);
    const silence = Promise.withResolvers<never>();
    const silent = pool.withConnection(() => silence.promise);
    await pool.withConnection(nothing);
    silence.reject(new Error("Query read timeout"));
    await expect(silent).rejects.toThrow("Query read timeout");
    await pool.withConnection(nothing);
    expect(released.slice(2)).toEqual([
      ["first", false],
      ["second", true],
      ["first", false],
    ]);
  });

  test("keeps a connection whose statement was refused", async () => {
    const { pool, released } = await openPool();
    const refused = Object.assign(new Error("no"), { code: "22003" });
    await expect(pool.withConnection(() => Promise.reject(refused))).rejects.toBe(refused);
    expect(released).toEqual([["first", false]]);
  });
});

describe("a caller's pool that several stores share", () => {
  test("has one listener of each kind until the last store has closed", async () => {
    const callers = new PgPoolOfPg();
    const counts = (): number[] => ["error", "acquire"].map((each) => callers.listenerCount(each));
    // One more than the maximum of listeners without a warning.
    const stores = await Promise.all(
      Array.from({ length: 11 }, () => Pool.make({ pool: callers })),
    );
    const [last, ...others] = stores;

    const seen = [counts()];
    for (const store of others) await store.end();
    seen.push(counts());
    await last?.end();
    seen.push(counts());

    expect(seen).toEqual([
      [1, 1],
      [1, 1],
      [0, 0],
    ]);
  });
});

describe("a caller's pool that wraps another pool", () => {
  test("has ended only until it gives a connection again", async () => {
    const { pool, driver } = await openPool();
    const refusal = new Error("Cannot use a pool after calling end on the pool");
    const connect = vi.spyOn(driver, "connect").mockRejectedValueOnce(refusal);
    await expect(pool.withConnection(nothing)).rejects.toMatchObject({ code: "STORE_CLOSED" });
    expect(pool.hasEnded).toBe(true);
    connect.mockRestore();

    await pool.withConnection(nothing);

    expect(pool.hasEnded).toBe(false);
  });
});

describe("a driver that cannot be loaded", () => {
  test("is to be installed only if the package is missing", () => {
    const missing = Object.assign(new Error("Cannot find package"), {
      code: "ERR_MODULE_NOT_FOUND",
    });

    expect(driverError(missing)).toMatchObject({ message: expect.stringContaining("npm i pg") });
    expect(driverError(new TypeError("no Client"))).toMatchObject({
      message: 'the package "pg" cannot be loaded: TypeError: no Client',
    });
  });
});

const NAMES = ["first", "second", "third"];

/** A driver's pool that reuses the connection released last. */
async function openPool() {
  const released: [name: string, destroy: boolean][] = [];
  const idle: PgClient[] = [];
  let made = 0;
  const make = (): PgClient => {
    const name = NAMES[made] ?? "";
    made += 1;
    const client = {
      name,
      query: () => Promise.reject(new Error("not asked for")),
      on: () => {},
      release(destroy = false) {
        released.push([name, destroy]);
        if (!destroy) idle.push(client);
      },
    };
    return client;
  };
  const driver: PgPool = {
    connect: () => Promise.resolve(idle.pop() ?? make()),
    end: () => Promise.resolve(),
    on: () => {},
    off: () => {},
  };
  return { pool: await Pool.make({ pool: driver }), driver, released };
}

function nothing(): Promise<void> {
  return Promise.resolve();
}

function readOnly(): Error {
  return Object.assign(new Error("read-only"), { code: "25006" });
}
