/** `millrace process new`: what it prints and writes. That its SQL runs is tested on a server. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type } from "../command-line.ts";
import { temporaryFolder } from "../programs.ts";

const EMAIL = ["process", "new", "comms.send_email", "--channel", "email"];

describe("millrace process new", () => {
  test("prints a migration with the names of the process, and nothing else", async () => {
    const { code, out, err } = await type(...EMAIL);

    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("CREATE FUNCTION comms.send_email_supervisor(_payload jsonb)");
    expect(out).not.toMatch(/\bfoo|_foo|\bdomain\b|\bthe_[a-z]+|^ *-- (when|otherwise|end)\b/m);
  });

  test("has handlers for a channel, and a function for db_function", async () => {
    const channel = await type(...EMAIL);
    const sql = await type("process", "new", "billing.close", "--channel", "db_function");

    expect(channel.out).toContain("FUNCTION comms.get_send_email_payload(");
    expect(channel.out).not.toContain("perform_send_email");
    expect(sql.out).toContain("FUNCTION billing.perform_close(");
    expect(sql.out).not.toContain("_handler");
  });

  test("writes a new file, and overwrites none", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "0001.sql");

    const first = await type(...EMAIL, "--out", file);
    const written = readFileSync(file, "utf8");
    const second = await type(...EMAIL, "--max-attempts", "9", "--out", file);

    expect(first).toMatchObject({ code: 0, out: "" });
    expect(written).toBe((await type(...EMAIL)).out);
    expect(second).toMatchObject({ code: 2, out: "" });
    expect(second.err).toContain("is not overwritten");
    expect(readFileSync(file, "utf8")).toBe(written);
  });

  test("names a folder that does not exist", async () => {
    using folder = temporaryFolder();

    const { code, err } = await type(...EMAIL, "--out", join(folder.path, "none", "0001.sql"));

    expect(code).toBe(2);
    expect(err).toContain("cannot be written (ENOENT)");
  });

  test("answers JSON", async () => {
    const { out } = await type(...EMAIL, "-o", "json");

    expect(JSON.parse(out)).toEqual({
      process: "comms.send_email",
      channel: "email",
      file: null,
      sql: (await type(...EMAIL)).out,
    });
  });

  test("refuses a name that is more than a name, and writes no file", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "0001.sql");
    const hostile = ["process", "new", "comms.x; DROP SCHEMA millrace", "--channel", "email"];

    const { code, out, err } = await type(...hostile, "--out", file);

    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("a name has small letters, digits and underscores");
    expect(existsSync(file)).toBe(false);
  });

  test("needs a channel", async () => {
    const { code, err } = await type("process", "new", "comms.send_email");

    expect(code).toBe(2);
    expect(err).toContain("--channel");
  });
});
