import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCommandLine } from "../../src/cli/program.ts";
import { temporaryFolder } from "./programs.ts";

describe("the command line", () => {
  test("--help says what there is, with examples and exit codes", async () => {
    const { code, out } = await type("--help");

    expect(code).toBe(0);
    for (const word of ["server", "migrate", "backup", "Examples:", "Exit codes:"]) {
      expect(out).toContain(word);
    }
  });

  test("server --help names defaults and environment variables", async () => {
    const { code, out } = await type("server", "--help");

    expect(code).toBe(0);
    for (const word of ["MILLRACE_DATABASE_URL", "sqlite:./millrace.db", "MILLRACE_PORT", "7333"]) {
      expect(out).toContain(word);
    }
  });

  test("a mistyped command is a usage error with a suggestion", async () => {
    const { code, err } = await type("sever");

    expect(code).toBe(2);
    expect(err).toContain("Did you mean server?");
  });

  test.each([
    ["jobs list --stat failed", "millrace jobs list --help"],
    ["jobs show", "millrace jobs show --help"],
    ["jobs lst", "millrace jobs --help"],
    ["worker --lanes x", "millrace worker --help"],
    ["sever", "millrace --help"],
  ])("%s points to %s", async (words, help) => {
    const { code, err } = await type(...words.split(" "));

    expect(code).toBe(2);
    expect(err).toContain(`Run ${help} to see`);
  });

  test.each([
    ["no command", []],
    ["an unknown option", ["migrate", "--dbb", "x"]],
    ["a missing argument", ["backup"]],
    ["a port that is a word", ["server", "--port", "http"]],
    ["a port that is too high", ["server", "--port", "65536"]],
    ["a foreign host", ["server", "--host", "0.0.0.0"]],
    ["a bare path", ["migrate", "--db", "./x.db"]],
  ])("%s is a usage error", async (_, args) => {
    const { code, out, err } = await type(...args);

    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).not.toBe("");
  });
});

describe("millrace migrate", () => {
  test("makes the store, and is harmless when repeated", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "jobs.db");

    const first = await type("migrate", "--db", `sqlite:${file}`);
    const second = await type("migrate", "--db", `sqlite:${file}`);

    expect(first).toEqual({ code: 0, out: `sqlite:${file} is up to date.\n`, err: "" });
    expect(second).toEqual(first);
    expect(existsSync(file)).toBe(true);
  });

  test("says what is wrong with a store in three parts: code, message, hint", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "jobs");
    mkdirSync(path);

    const { code, err } = await type("migrate", "--db", `sqlite:${path}`);

    expect(code).toBe(5);
    expect(err).toBe(
      `STORE_IS_FOLDER: ${path} is a folder, not a database file\nName a file inside the folder.\n`,
    );
  });
});

describe("millrace backup", () => {
  test("copies a store", async () => {
    using folder = temporaryFolder();
    const db = `sqlite:${join(folder.path, "jobs.db")}`;
    const copy = join(folder.path, "copy.db");
    await type("migrate", "--db", db);

    const { code, out } = await type("backup", copy, "--db", db);

    expect({ code, out }).toEqual({ code: 0, out: `${db} is copied to ${copy}.\n` });
    expect((await type("migrate", "--db", `sqlite:${copy}`)).code).toBe(0);
  });

  test("never writes over a file", async () => {
    using folder = temporaryFolder();
    const db = `sqlite:${join(folder.path, "jobs.db")}`;
    const copy = join(folder.path, "copy.db");
    await type("migrate", "--db", db);
    writeFileSync(copy, "precious");

    const { code, err } = await type("backup", copy, "--db", db);

    expect(code).toBe(2);
    expect(err).toMatch(/^BACKUP_EXISTS: /);
  });

  test("does not create the store that it was asked to copy", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "jobs.db");

    const { code, err } = await type("backup", `${file}.copy`, "--db", `sqlite:${file}`);

    expect(code).toBe(2);
    expect(err).toContain(`there is no store at ${file}`);
    expect(existsSync(file)).toBe(false);
  });
});

async function type(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const code = await runCommandLine(args, {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  return { code, out, err };
}
