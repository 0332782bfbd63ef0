/**
 * The bootstrap is run in a small repository of its own, with a stand-in for npm that notes down
 * that it was called, and for the Node of node_modules a link to the one that runs this test.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { oldNode, Program, root, run, temporaryFolder } from "../cli/programs.ts";
import type { Ended } from "../cli/programs.ts";

/** Where there is an old Node, the bootstrap has to run on it. */
const outerNode = oldNode ?? process.execPath;

describe("the bootstrap", () => {
  test("installs in a bare clone, says so, and runs the script on the installed Node", async () => {
    using clone = bareClone();

    const { code, stdout, stderr } = await bootstrap(clone, ["print.js", "one", "two words"]);

    expect(stderr).toMatch(/node_modules is missing: installing .* npm ci/);
    expect(stderr).toMatch(/installed in \d+\.\d s/);
    expect(stdout).toBe(`["${process.version}","one","two words"]\n`);
    expect(code).toBe(0);
    expect(clone.installs()).toBe(1);
  });

  test("does not install again while the lock file stays the same", async () => {
    using clone = bareClone();
    await bootstrap(clone, ["print.js"]);

    const { stderr } = await bootstrap(clone, ["print.js"]);

    expect(stderr).toBe("");
    expect(clone.installs()).toBe(1);
  });

  test("installs again when the lock file has changed", async () => {
    using clone = bareClone();
    await bootstrap(clone, ["print.js"]);
    clone.lock({ "node_modules/left": { version: "2.0.0" } });

    const { code, stderr } = await bootstrap(clone, ["print.js"]);

    expect(stderr).toContain("node_modules was made from another package-lock.json");
    expect(code).toBe(0);
    expect(clone.installs()).toBe(2);
  });

  test("accepts what a plain npm ci has installed", async () => {
    using clone = bareClone();
    await run(process.execPath, [clone.npm, "ci"], { cwd: clone.path });

    const { code, stderr } = await bootstrap(clone, ["print.js"]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(clone.installs()).toBe(1);
  });

  test("says that the network is missing", async () => {
    using clone = bareClone();

    const { code, stdout, stderr } = await bootstrap(clone, ["print.js"], "ENOTFOUND");

    expect(stderr).toContain("millrace: the package registry cannot be reached.");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  });

  test("says that the lock file does not fit", async () => {
    using clone = bareClone();

    const { code, stderr } = await bootstrap(clone, ["print.js"], "EUSAGE");

    expect(stderr).toContain("millrace: package.json and package-lock.json disagree.");
    expect(code).toBe(1);
  });

  test("says that npm failed, and leaves its words on the screen", async () => {
    using clone = bareClone();

    const { code, stderr } = await bootstrap(clone, ["print.js"], "EWHATEVER");

    expect(stderr).toContain("npm error code EWHATEVER");
    expect(stderr).toContain("millrace: npm ci failed with exit code 1.");
    expect(code).toBe(1);
  });

  test("passes the exit code on", async () => {
    using clone = bareClone();

    expect((await bootstrap(clone, ["-e", "process.exit(7)"])).code).toBe(7);
  });

  test("passes a signal on, and the end that comes of it", async () => {
    using clone = bareClone();
    const script = `
      process.on("SIGTERM", () => { console.log("heard"); process.exit(3); });
      setInterval(() => {}, 1000);
      console.log("ready");
    `;
    const program = start(clone, ["-e", script]);
    await program.said(/ready/);

    program.child.kill("SIGTERM");

    expect(await program.ended).toMatchObject({ code: 3, stdout: "ready\nheard\n" });
  });

  test("dies of the signal that its script died of", async () => {
    using clone = bareClone();

    const ended = await bootstrap(clone, ["-e", "process.kill(process.pid, 'SIGKILL')"]);

    expect(ended).toMatchObject({ code: null, signal: "SIGKILL" });
  });

  test.each(["start", "dev", "test", "test:quick", "check", "bench"])(
    "stands before npm run %s",
    (name) => {
      const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

      expect(scripts[name]).toMatch(/^exec node scripts\/bootstrap\.mjs /);
    },
  );
});

const FAKE_NPM = `
const { appendFileSync, mkdirSync, readFileSync, rmSync } = require("fs");
const { symlinkSync, writeFileSync } = require("fs");
appendFileSync("installs.log", process.argv.slice(2).join(" ") + "\\n");
if (process.env.NPM_FAILURE) {
  console.error("npm error code " + process.env.NPM_FAILURE);
  process.exit(1);
}
rmSync("node_modules", { recursive: true, force: true });
mkdirSync("node_modules/node/bin", { recursive: true });
symlinkSync(${JSON.stringify(process.execPath)}, "node_modules/node/bin/node");
const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
delete packages[""];
for (const path of Object.keys(packages)) if (packages[path].optional) delete packages[path];
writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages }));
`;

function bareClone() {
  const folder = temporaryFolder();
  const { path } = folder;
  const lock = (packages: object): void =>
    writeFileSync(
      join(path, "package-lock.json"),
      JSON.stringify({ packages: { "": { name: "clone" }, ...packages } }),
    );
  mkdirSync(join(path, "scripts"));
  cpSync(join(root, "scripts", "bootstrap.mjs"), join(path, "scripts", "bootstrap.mjs"));
  writeFileSync(join(path, "npm.cjs"), FAKE_NPM);
  writeFileSync(
    join(path, "print.js"),
    "console.log(JSON.stringify([process.version, ...process.argv.slice(2)]))",
  );
  lock({
    "node_modules/left": { version: "1.0.0", integrity: "sha512-x" },
    "node_modules/only-on-a-mac": { version: "1.0.0", optional: true },
  });
  const log = join(path, "installs.log");
  const installs = (): number =>
    existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n").length : 0;
  return { ...folder, lock, installs, npm: join(path, "npm.cjs") };
}

function start(
  clone: ReturnType<typeof bareClone>,
  args: readonly string[],
  failure = "",
): Program {
  const env = {
    ...process.env,
    npm_execpath: clone.npm,
    npm_node_execpath: process.execPath,
    NPM_FAILURE: failure,
  };
  const script = join(clone.path, "scripts", "bootstrap.mjs");
  return new Program(outerNode, [script, ...args], { cwd: clone.path, env });
}

function bootstrap(
  clone: ReturnType<typeof bareClone>,
  args: readonly string[],
  failure = "",
): Promise<Ended> {
  return start(clone, args, failure).ended;
}
