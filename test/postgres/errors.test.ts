/** What a caller is told when the server says no, or nothing at all. */
import { createServer } from "node:net";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ErrorCode } from "../../src/core/errors.ts";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { type } from "../cli/command-line.ts";
import { newJob } from "../support/factories.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";

const PASSWORD = "open-sesame";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
  await query(`
    CREATE ROLE guarded LOGIN PASSWORD 'another';
    CREATE ROLE narrow LOGIN;
    CREATE ROLE barred NOLOGIN;
    CREATE ROLE single LOGIN CONNECTION LIMIT 0;
    CREATE ROLE reader LOGIN;
    ALTER ROLE reader SET default_transaction_read_only = on`);
  await query("CREATE DATABASE western ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  const { rows } = await query("SHOW hba_file");
  await query(`COPY (VALUES ('host all guarded 127.0.0.1/32 scram-sha-256'),
    ('host all all 127.0.0.1/32 trust')) TO '${rows[0].hba_file}'`);
  await query("SELECT pg_reload_conf()");
});
afterAll(() => server[Symbol.asyncDispose]());

interface Refusal {
  readonly change: (url: URL) => void;
  readonly code: ErrorCode;
  readonly words: RegExp;
  readonly hint: RegExp;
}

const REFUSALS: readonly (readonly [what: string, refusal: Refusal])[] = [
  [
    "no server listens there",
    {
      change: (url) => (url.port = "1"),
      code: "STORE_UNREACHABLE",
      words: /cannot be reached \(PostgreSQL at 127\.0\.0\.1:1\/postgres: .*ECONNREFUSED/,
      hint: /Start the server, or correct the host/,
    },
  ],
  [
    "there is no such host",
    {
      change: (url) => (url.hostname = "nowhere.invalid"),
      code: "STORE_UNREACHABLE",
      words: /nowhere\.invalid/,
      hint: /host/,
    },
  ],
  [
    "the password is wrong",
    {
      change: (url) => (url.username = "guarded"),
      code: "STORE_DENIED",
      words: /rejected the login of this user .*"guarded"/,
      hint: /user and the password/,
    },
  ],
  [
    "there is no password",
    {
      change: (url) => Object.assign(url, { username: "guarded", password: "" }),
      code: "STORE_DENIED",
      words: /password/,
      hint: /password/,
    },
  ],
  [
    "the user may not log in",
    {
      change: (url) => (url.username = "barred"),
      code: "STORE_DENIED",
      words: /barred/,
      hint: /user/,
    },
  ],
  [
    "the user lacks a privilege",
    {
      change: (url) => (url.username = "narrow"),
      code: "STORE_DENIED",
      words: /lacks a privilege .*permission denied for database/,
      hint: /grant the right/,
    },
  ],
  [
    "the database does not exist",
    {
      change: (url) => (url.pathname = "/nothing"),
      code: "STORE_DATABASE_MISSING",
      words: /"nothing" does not exist/,
      hint: /Create the database/,
    },
  ],
  [
    "there are too many connections",
    {
      change: (url) => (url.username = "single"),
      code: "STORE_CROWDED",
      words: /no connection left .*too many connections/,
      hint: /max_connections/,
    },
  ],
  [
    "the server is read-only",
    {
      change: (url) => (url.username = "reader"),
      code: "STORE_SERVER_READ_ONLY",
      words: /read-only/,
      hint: /primary/,
    },
  ],
  [
    "the database is not in UTF8",
    {
      change: (url) => (url.pathname = "/western"),
      code: "STORE_UNSUITABLE",
      words: /LATIN1/,
      hint: /UTF8/,
    },
  ],
];

describe("a store on PostgreSQL that cannot be opened", () => {
  test.each(REFUSALS)("says why and what to do, but no password: %s", async (_, refusal) => {
    const error = await openingError(addressWith(refusal.change));
    expect(error).toMatchObject({ code: refusal.code });
    expect(error.message).toMatch(refusal.words);
    expect(error.hint).toMatch(refusal.hint);
    expect(inspect(error, { depth: 10 })).not.toContain(PASSWORD);
  });

  test("says so when the server accepts and then is silent", async () => {
    const mute = createServer(() => {});
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    const address = mute.address();
    const port = typeof address === "object" ? String(address?.port) : "";
    const error = await openingError(addressWith((url) => (url.port = port)));
    mute.close();
    expect(error).toMatchObject({ code: "STORE_UNREACHABLE" });
    expect(error.message).toMatch(/timeout/);
  });

  test("says so when the schema belongs to another program", async () => {
    await query("CREATE SCHEMA theirs; CREATE TABLE theirs.orders ()");
    const error = await openingError(server.url, "theirs");
    expect(error).toMatchObject({ code: "STORE_SCHEMA_FOREIGN" });
    expect(error.message).toContain("it has a table orders");
    expect(error.hint).toContain("?schema=");
  });

  test("keeps the password of a URL that cannot be read", async () => {
    const error = await openingError(`postgres://postgres:${PASSWORD}@[::1/postgres`);
    expect(error).toMatchObject({ code: "OPTION_INVALID" });
    expect(inspect(error, { depth: 10 })).not.toContain(PASSWORD);
  });

  test("ends a command with the code for a store, its name and the next step", async () => {
    const url = addressWith((address) => (address.port = "1"));
    const { code, err } = await type("stats", "--db", url);
    expect(code).toBe(5);
    expect(err).toMatch(/^STORE_UNREACHABLE: the server cannot be reached .*\nStart the server/);
    expect(err).not.toContain(PASSWORD);
  });
});

describe("a database without a store", () => {
  const db = (): string => `${server.url}?schema=unborn`;
  const schemas = async (): Promise<number> => {
    const { rows } = await query("SELECT 1 FROM pg_namespace WHERE nspname = 'unborn'");
    return rows.length;
  };

  test.each(["stats", "jobs list", "pauses", "workers list", "doctor"])(
    "is not changed by: millrace %s",
    async (command) => {
      const { code, err } = await type(...command.split(" "), "--db", db());

      expect(code).toBe(5);
      expect(err).toMatch(/there is no store in the schema unborn/i);
      expect(err).toContain("millrace migrate");
      expect(await schemas()).toBe(0);
    },
  );

  test("gets a store by: millrace enqueue", async () => {
    const made = await type("enqueue", "mail", "--db", db());
    await type("pause", "--type", "mail", "--db", db());
    const { code, out } = await type("stats", "--db", db(), "-o", "json");

    expect([made.code, code]).toEqual([0, 0]);
    expect(JSON.parse(out)).toMatchObject({ queued: 0, held: 1 });
    expect((await type("doctor", "--db", db())).out).toContain("1 job(s) wait for this pause");
  });
});

describe("a call on an open store on PostgreSQL", () => {
  test("says that the server's disk is full", async () => {
    const store = makePostgresStore({ url: server.url, schema: "full" });
    await store.open();
    await query(`
      CREATE FUNCTION "full".fill() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
      END $$;
      CREATE TRIGGER fill BEFORE INSERT ON "full".job EXECUTE FUNCTION "full".fill()`);

    const error = await store.enqueue([newJob()]).catch((thrown: unknown) => thrown);
    await store.close();

    expect(error).toMatchObject({ code: "STORE_FULL", status: 507 });
    expect(error).toHaveProperty("message", expect.stringContaining("the server's disk is full"));
  });
});

describe("a server that has become read-only for good", () => {
  test("is waited for, and then the caller is told", async () => {
    await query("CREATE DATABASE retired");
    const url = addressWith((address) => (address.pathname = "/retired"));
    const store = makePostgresStore({ url });
    await store.open();
    await query("ALTER DATABASE retired SET default_transaction_read_only = on");
    await query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'retired'");

    const error = await store.enqueue([newJob()]).catch((thrown: unknown) => thrown);
    await store.close();

    expect(error).toMatchObject({ code: "STORE_SERVER_READ_ONLY", status: 503 });
    expect(error).toHaveProperty("hint", expect.stringContaining("primary"));
    expect(error).toHaveProperty("details.uncertain", false);
  });
});

/** The address of the server with a password in it, changed. */
function addressWith(change: (url: URL) => void): string {
  const url = new URL(server.url);
  url.password = PASSWORD;
  change(url);
  return url.href;
}

async function openingError(url: string, schema = "millrace") {
  const store = makePostgresStore({ url, schema });
  try {
    await store.open();
  } catch (error) {
    if (error instanceof Error && "hint" in error) return { ...spread(error), error };
    throw error;
  }
  throw new Error("it was opened");
}

/** What stands on the prototype is not seen otherwise. */
function spread(error: Error): { message: string; hint: string; code: unknown } {
  const { message } = error;
  return { message, hint: String(Reflect.get(error, "hint")), code: Reflect.get(error, "code") };
}

async function query(text: string) {
  const client = await connect(server.url);
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}
