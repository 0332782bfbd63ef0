/** What commands print of other people's words, and what they advise to copy. */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { Client } from "../../src/client/client.ts";
import { Project, TestStore, type } from "./command-line.ts";
import { temporaryFolder } from "./programs.ts";

const EVIL = "\u001b]0;pwned\u0007\u009b31m \u0085 \u202etxt.exe\u2066";
/** Every character that moves a cursor, changes a colour or turns a line around. */
const STEERING = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

const echo = defineJob({ type: "echo", payload: typed<string>() }).run((text) => text);
const doomed = defineJob({ type: "doomed", maxAttempts: 1 }).run(() => {
  throw new Error(EVIL);
});

async function withEvil(store: TestStore): Promise<{ done: string; dead: string }> {
  const mill = await store.mill;
  const options = { tags: { "a\u202e": EVIL }, createdBy: "ada\u2066" };
  const done = await mill.enqueue(echo, EVIL, options);
  const dead = await mill.enqueue(doomed);
  const worker = mill.work({ jobs: [echo, doomed] });
  await Promise.all([mill.wait(done), mill.wait(dead)]);
  await worker.stop();
  return { done: done.id, dead: dead.id };
}

describe("what a command prints", () => {
  test("never steers the terminal, in a table, as JSON or while it follows", async () => {
    await using store = new TestStore();
    const { done, dead } = await withEvil(store);
    const commands = [
      ["jobs", "list"],
      ["jobs", "show", done],
      ["jobs", "show", dead],
      ["jobs", "explain", dead],
      ["jobs", "follow", done],
      ["jobs", "follow", dead],
      ["dlq", "list"],
      ["dlq", "show", dead],
    ];

    for (const command of commands) {
      for (const format of [[], ["-o", "json"], ["-o", "ndjson"]]) {
        const { out, err } = await store.type(...command, ...format);
        expect(`${command.join(" ")} ${format.join(" ")}: ${out}${err}`).not.toMatch(STEERING);
      }
    }
  });

  test("says the same as JSON, letter by letter", async () => {
    await using store = new TestStore();
    const { done, dead } = await withEvil(store);

    const { out } = await store.type("jobs", "follow", done);

    expect(out).toContain(String.raw`\u009b31m \u0085 \u202etxt.exe\u2066`);
    expect(JSON.parse(out)).toBe(EVIL);
    expect(await store.json("jobs", "show", done)).toMatchObject({
      job: { payload: EVIL, result: EVIL, tags: { "a\u202e": EVIL } },
    });
    expect(await store.json("dlq", "show", dead)).toMatchObject({ error: { message: EVIL } });
  });

  test("names a stored type that was probably meant without its marks", async () => {
    await using store = new TestStore();
    await (await store.mill).enqueue(defineJob({ type: "email\u202e" }));

    for (const command of [
      ["jobs", "list", "--type", "email"],
      ["pause", "--type", "email"],
      ["enqueue", "email"],
    ]) {
      const { err } = await store.type(...command);
      expect(err).toContain("Did you mean email\ufffd?");
    }
  });

  test("shows errors of the store without what steers", async () => {
    const { err } = await type("jobs", "show", `x${EVIL}`, "--db", "sqlite::memory:");

    expect(err).toContain("ID_INVALID");
    expect(err).not.toMatch(STEERING);
  });
});

describe("a command that is printed to be copied", () => {
  test("has the names of gates quoted for the shell", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const tenant = "a; touch 'x'";
    const { id } = await mill.enqueue(echo, "hello", { tenant });
    await mill.pause({ tenant }, "by hand");
    if (mill instanceof Client) await mill.parts.store.hold(10);

    const { out } = await store.type("doctor");
    const explained = await store.json("jobs", "explain", id);

    const command = String.raw`millrace resume --tenant 'a; touch '\''x'\'''`;
    expect(out).toContain(`${command}\n`);
    expect(explained.hint).toContain(command);
  });

  test("has the names of files quoted for the shell", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "my jobs.db");
    await type("migrate", "--db", `sqlite:${path}`);
    chmodSync(path, 0o644);

    const { out } = await type("doctor", "--db", `sqlite:${path}`);

    expect(out).toContain(`chmod 600 '${path}'\n`);
  });

  test("has the name of the store quoted for the shell", async () => {
    using project = new Project();
    const follow = ["--follow", "-o", "ndjson", "--db", "sqlite:./my jobs.db"];
    const command = project.start("enqueue", "unserved", ...follow);
    await command.said(/job:enqueued/);

    command.child.kill("SIGINT");
    const { stderr } = await command.ended;

    expect(stderr).toMatch(/millrace jobs follow \w{26} --db 'sqlite:\.\/my jobs\.db'\n$/);
  });
});

describe("an option that there is not", () => {
  test.each([
    [["workers", "--db", "sqlite:./x.db"], "Did you mean: millrace workers list --db …"],
    [["jobs", "--state", "failed"], "Did you mean: millrace jobs list --state …"],
    [["jobs", "list", "--database", "x"], "Did you mean --db? It takes the URL of the database"],
    [["worker", "--store", "x"], "Did you mean --db? It takes the URL of the database"],
  ])("is answered with the one that was meant: %j", async (args, advice) => {
    const { code, err } = await type(...args);

    expect(code).toBe(2);
    expect(err).toContain(advice);
  });
});

describe("millrace enqueue without --jobs", () => {
  test("says what it does not know", async () => {
    await using store = new TestStore();

    const { err } = await store.type("enqueue", "email");

    expect(err).toContain("Without a job file (--jobs FILE) the definition is not known");
    expect(err).toContain("default settings apply");
  });
});
