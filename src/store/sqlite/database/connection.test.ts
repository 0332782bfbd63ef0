import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requireSqlite } from "./connection.ts";
import { makeSqliteStore } from "../create.ts";

const UNPRIVILEGED = 65_534;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "millrace-open-"));
});

afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});

describe("opening a database", () => {
  test("makes a file that only its owner can read, and side files alike", async () => {
    const path = join(folder, "jobs.db");

    const store = makeSqliteStore({ path });
    await store.open();
    await store.promote(1);

    for (const file of [path, `${path}-wal`, `${path}-shm`]) {
      expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
    }
    await store.close();
  });

  test("uses write-ahead logging and syncs every commit", async () => {
    const path = join(folder, "jobs.db");
    const store = makeSqliteStore({ path });
    await store.open();
    await store.close();

    const database = new DatabaseSync(path);
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    database.close();
  });

  test("finds what was there before", async () => {
    const path = join(folder, "jobs.db");
    const first = makeSqliteStore({ path });
    await first.open();
    await first.pause({ kind: "type", name: "email" }, { reason: "mail is down", by: null });
    await first.close();

    const second = makeSqliteStore({ path });
    await second.open();
    expect(await second.gates()).toMatchObject([{ name: "email", reason: "mail is down" }]);
    await second.close();
  });
});

describe("a path that cannot work", () => {
  test("in a missing folder is refused with the folder's name", async () => {
    await expectRefusal(join(folder, "missing", "jobs.db"), "STORE_FOLDER_MISSING", "missing");
  });

  test("that is a folder is refused", async () => {
    await expectRefusal(folder, "STORE_IS_FOLDER", folder);
  });

  test("to a file that is not SQLite is refused and left as it is", async () => {
    const path = join(folder, "notes.txt");
    writeFileSync(path, "a shopping list, not a database\n");

    await expectRefusal(path, "STORE_NOT_SQLITE", path);
    expect(readFileSync(path, "utf8")).toBe("a shopping list, not a database\n");
  });

  test("to another application's database is refused unless sharing was asked for", async () => {
    const path = join(folder, "app.db");
    const app = new DatabaseSync(path);
    app.exec("CREATE TABLE customer (id INTEGER)");
    app.close();

    await expectRefusal(path, "STORE_FOREIGN", "customer");

    const shared = makeSqliteStore({ path, shared: true });
    await shared.open();
    await shared.close();
    const again = makeSqliteStore({ path });
    await again.open();
    await again.close();
  });

  test("to a damaged database is refused", async () => {
    const path = join(folder, "jobs.db");
    const store = makeSqliteStore({ path });
    await store.open();
    await store.close();
    const bytes = readFileSync(path);
    bytes.fill(0xff, 100, 4_096);
    writeFileSync(path, bytes);

    await expectRefusal(path, "STORE_CORRUPT", path);
  });

  test("to a database of a newer release is refused with both versions", async () => {
    const path = join(folder, "jobs.db");
    const store = makeSqliteStore({ path });
    await store.open();
    await store.close();
    const newer = new DatabaseSync(path);
    newer.exec("UPDATE millrace_meta SET value = '999' WHERE name = 'schema'");
    newer.close();

    await expectRefusal(path, "STORE_NEWER", "999");
  });

  test("in a read-only folder, to a read-only or an unreadable file, is refused", () => {
    const path = join(folder, "jobs.db");
    writeFileSync(path, "");
    const cases = [
      { mode: [0o700, 0o000], code: "STORE_UNREADABLE" },
      { mode: [0o700, 0o400], code: "STORE_READ_ONLY" },
      { mode: [0o500, 0o600], code: "STORE_READ_ONLY" },
    ] as const;
    for (const { mode, code } of cases) {
      chmodSync(path, mode[1]);
      chmodSync(folder, mode[0]);
      expect(openAsOrdinaryUser(path)).toContain(code);
    }
  });
});

describe("SQLite itself", () => {
  test.each(["3.51.3", "3.51.10", "3.53.4", "4.0.0"])("%s is accepted", (version) => {
    expect(() => requireSqlite(version)).not.toThrow();
  });

  test.each(["3.51.2", "3.50.9", "2.99.99", "0.0.0"])("%s is refused by name", (version) => {
    expect(() => requireSqlite(version)).toThrow(
      expect.objectContaining({
        code: "SQLITE_TOO_OLD",
        message: expect.stringContaining(version),
      }),
    );
  });
});

describe("options", () => {
  test.each([
    [undefined, "takes { path }"],
    [{ path: "" }, "path must be"],
    [{ path: 5 }, "path must be"],
    [{ path: "x.db", shared: "yes" }, "shared must be"],
    [{ path: "x.db", file: "y" }, 'no option "file"'],
  ])("%j are refused: %s", (options, message) => {
    expect(() => Reflect.apply(makeSqliteStore, null, [options])).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        message: expect.stringContaining(message),
      }),
    );
  });
});

async function expectRefusal(path: string, code: string, word: string): Promise<void> {
  const store = makeSqliteStore({ path });
  await expect(store.open()).rejects.toMatchObject({
    code,
    message: expect.stringContaining(word),
  });
}

/**
 * Permissions do not bind root, so another user makes the attempt: a process that gives its rights
 * away once it has loaded the code, which that user need not be able to read.
 */
function openAsOrdinaryUser(path: string): string {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) for (const each of [folder, path]) chownSync(each, UNPRIVILEGED, UNPRIVILEGED);
  const make = join(import.meta.dirname, "..", "create.ts");
  const program = `
    const { makeSqliteStore } = await import(${JSON.stringify(make)});
    if (${isRoot}) { process.setgid(${UNPRIVILEGED}); process.setuid(${UNPRIVILEGED}); }
    await makeSqliteStore({ path: ${JSON.stringify(path)} }).open()
      .then(() => console.log("opened"), (error) => console.log(error.code, error.message));`;
  const args = ["--input-type=module-typescript", "--eval", program];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return stdout + stderr;
}
