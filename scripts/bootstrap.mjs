/**
 * Runs a command of this repository from any state of the clone:
 *
 *     node scripts/bootstrap.mjs scripts/test.ts --quick
 *
 * It installs the locked packages if they are missing or were made from another lock file, then
 * hands all its arguments to the Node 24 that came with them. Signals and exit codes pass through.
 *
 * This is the one script in plain JavaScript: it has to run on an older Node, before the one that
 * strips types is there, and so it may import nothing that must be installed.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const modules = join(root, "node_modules");
const lockFile = join(root, "package-lock.json");
const markFile = join(modules, ".millrace-lock");
const node = join(modules, "node", "bin", process.platform === "win32" ? "node.exe" : "node");

const lockHash = createHash("sha256").update(readFileSync(lockFile)).digest("hex");
const reason = reasonToInstall();
const installed = reason === null || (await install(reason));
if (installed) await run(process.argv.slice(2));

/** Says why the packages must be installed, or `null` when they are those of the lock file. */
function reasonToInstall() {
  if (!existsSync(modules)) return "node_modules is missing";
  if (!existsSync(node)) return "Node 24 is missing from node_modules";
  if (existsSync(markFile) && readFileSync(markFile, "utf8") === lockHash) return null;
  if (!matchesLock()) return "node_modules was made from another package-lock.json";
  // npm ci was run by hand, from this very lock file: nothing to do but remember it.
  writeFileSync(markFile, lockHash);
  return null;
}

/** Compares what npm noted down about its last install with the lock file, package by package. */
function matchesLock() {
  const noteFile = join(modules, ".package-lock.json");
  if (!existsSync(noteFile)) return false;
  const wanted = JSON.parse(readFileSync(lockFile, "utf8")).packages;
  const present = JSON.parse(readFileSync(noteFile, "utf8")).packages;
  const same = (path) =>
    present[path] !== undefined &&
    present[path].version === wanted[path]?.version &&
    present[path].integrity === wanted[path]?.integrity;

  // An optional package may be absent: it is built for another platform.
  return (
    Object.keys(present).every(same) &&
    Object.keys(wanted).every((path) => path === "" || wanted[path].optional || same(path))
  );
}

/** Runs `npm ci` and answers whether it worked. */
async function install(why) {
  const started = performance.now();
  say(`${why}: installing the locked packages with npm ci …`);
  const { code, errors } = await npmCi();
  if (code === 0 && existsSync(node)) {
    writeFileSync(markFile, lockHash);
    say(`installed in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
    return true;
  }
  say(whyInstallFailed(code, errors));
  process.exitCode = 1;
  return false;
}

function whyInstallFailed(code, errors) {
  if (/\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/.test(errors)) {
    return "the package registry cannot be reached. Check the network or proxy and try again.";
  }
  if (/\bEUSAGE\b/.test(errors)) {
    return "package.json and package-lock.json disagree. Run npm install and commit the lock file.";
  }
  if (code === 0) {
    return "npm ci did not bring Node 24. Allow the install script of the package “node”.";
  }
  return `npm ci failed with exit code ${code}. Its own words are above.`;
}

/**
 * npm must not run on the Node inside node_modules, which it is about to replace: npm tells its
 * scripts which Node it runs on itself, and our own bin folder leaves the PATH.
 */
function npmCi() {
  const path = (process.env.PATH ?? "").split(delimiter);
  const outside = path.filter((folder) => folder !== join(modules, ".bin")).join(delimiter);
  const options = {
    cwd: root,
    env: { ...process.env, PATH: outside },
    stdio: ["ignore", "inherit", "pipe"],
  };
  const { npm_execpath: npm, npm_node_execpath: npmNode } = process.env;
  // An engine warning is of no use here: the packages run on the Node that is being installed.
  const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  const child = npm
    ? spawn(npmNode ?? process.execPath, [npm, ...args], options)
    : spawn("npm", args, { ...options, shell: process.platform === "win32" });

  return new Promise((resolve) => {
    let errors = "";
    child.stderr.on("data", (chunk) => {
      errors += chunk;
      process.stderr.write(chunk);
    });
    child.on("error", (error) => resolve({ code: 127, errors: `npm: ${error.message}` }));
    child.on("close", (code) => resolve({ code: code ?? 1, errors }));
  });
}

/** Runs the installed Node with `args` and ends the way it ends. Its tools are to find it, too. */
function run(args) {
  const path = [join(modules, ".bin"), process.env.PATH].join(delimiter);
  const child = spawn(node, args, { stdio: "inherit", env: { ...process.env, PATH: path } });
  const forward = (signal) => child.kill(signal);
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, forward);

  return new Promise((resolve) => {
    child.on("close", (code, signal) => {
      for (const name of signals) process.off(name, forward);
      process.exitCode = code ?? 1;
      if (signal !== null) process.kill(process.pid, signal);
      resolve(undefined);
    });
  });
}

function say(text) {
  process.stderr.write(`millrace: ${text}\n`);
}
