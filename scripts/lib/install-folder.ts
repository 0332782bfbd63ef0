/** Installs packages that only some need, on demand, so that no other command has to wait. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Installs from the lock file in `folder`, unless that has been done. */
export async function installFolder(folder: string, what: string): Promise<void> {
  const lock = readFileSync(join(folder, "package-lock.json"));
  const hash = createHash("sha256").update(lock).digest("hex");
  const mark = join(folder, "node_modules", ".millrace-lock");
  if (existsSync(mark) && readFileSync(mark, "utf8") === hash) return;
  process.stderr.write(`installing ${what} …\n`);
  // None of them needs its install script: those that have any work without.
  const code = await npm(["ci", "--prefix", folder, "--ignore-scripts", "--loglevel=error"]);
  if (code !== 0) throw new Error(`npm ci --prefix ${folder} ended with ${code}`);
  writeFileSync(mark, hash);
}

/** Words go to stderr: stdout is for the report. */
function npm(args: readonly string[]): Promise<number | null> {
  const { npm_execpath: path } = process.env;
  const [program, first] = path === undefined ? ["npm", []] : [process.execPath, [path]];
  const child = spawn(program, [...first, ...args], { stdio: ["ignore", 2, 2] });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
}
