/**
 * Both commands from a bare clone, on the machine's own Node: how long each step takes and how it
 * ends.
 *
 *     node scripts/show/fresh-clone.ts
 *
 * Clones the committed state of this repository into a temporary folder, removes this repository's
 * Node from the path, and runs `npm ci`, `npm run check`, `npm start` (until its page answers) and
 * `npm test`.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const START_MS_MAX = 180_000;
const root = join(import.meta.dirname, "..", "..");
const folder = mkdtempSync(join(tmpdir(), "millrace-clone-"));
const env = { ...process.env, PATH: pathWithoutOurs(), CI: "true" };

try {
  run("git clone", "git", ["clone", "--quiet", root, "bare"], folder);
  const clone = join(folder, "bare");
  console.log(`node ${say("node", ["--version"])}, npm ${say("npm", ["--version"])}`);
  run("npm ci", "npm", ["ci", "--no-fund", "--no-audit"], clone);
  run("npm run check", "npm", ["run", "check"], clone);
  await start(clone);
  rmSync(join(clone, "node_modules"), { recursive: true });
  run("npm test (nothing installed)", "npm", ["test"], clone, 28);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Runs a step, prints its time and, if it failed or if asked to, the end of its output. */
function run(name: string, command: string, args: string[], cwd: string, tail = 0): void {
  const began = performance.now();
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  report(name, began, status === 0 ? "ok" : `failed with ${status}`);
  const lines = `${stdout}${status === 0 ? "" : stderr}`.trimEnd().split("\n");
  if (status !== 0) console.log(lines.slice(-40).join("\n"));
  else if (tail > 0) console.log(lines.slice(-tail).join("\n"));
  if (status !== 0) process.exitCode = 1;
}

async function start(cwd: string): Promise<void> {
  const began = performance.now();
  const server = spawn("npm", ["start"], { cwd, env, detached: true });
  let output = "";
  const url = await new Promise<string | null>((resolve) => {
    const timer = setTimeout(() => resolve(null), START_MS_MAX);
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+\S*/.exec(output);
      if (found === null) return;
      clearTimeout(timer);
      resolve(found[0]);
    };
    server.stdout.on("data", read);
    server.stderr.on("data", read);
  });
  const shown = url === null ? null : await signedIn(url);
  const verdict = shown === null ? `failed:\n${output}` : `ok, its link shows ${shown}`;
  report("npm start, until its page answers", began, verdict);
  if (shown === null) process.exitCode = 1;
  // The whole group: npm, the bootstrap and the server.
  if (server.pid !== undefined) process.kill(-server.pid, "SIGTERM");
  await new Promise((resolve) => server.once("close", resolve));
}

/** Opens the link as a browser does; null: the page or its data did not come. */
async function signedIn(link: string): Promise<string | null> {
  const login = await fetch(link, { redirect: "manual" });
  const headers = { cookie: login.headers.get("set-cookie")?.split(";")[0] ?? "" };
  const page = await fetch(new URL("/", link), { headers });
  const overview = await fetch(new URL("/api/v1/overview", link), { headers });
  const title = /<title>(.*?)<\/title>/.exec(await page.text())?.[1];
  return page.ok && overview.ok ? `"${title}" and the counts of the jobs` : null;
}

function report(name: string, began: number, verdict: string): void {
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${name.padEnd(36)} ${seconds.padStart(6)} s  ${verdict}`);
}

function pathWithoutOurs(): string {
  const parts = (process.env["PATH"] ?? "").split(delimiter);
  return parts.filter((part) => !part.includes("node_modules")).join(delimiter);
}

function say(command: string, args: string[]): string {
  return spawnSync(command, args, { env, encoding: "utf8" }).stdout.trim();
}
