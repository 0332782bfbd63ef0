/** Asks the doctor of the command line what is wrong with a store. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { CLOCK_OPTIONS } from "./clock.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
/** A worker that was killed just now is still known: the others forget it within two leases. */
const HEAL_MS_MAX = 10_000;
const ASK_EVERY_MS = 500;

/** What is still wrong after a while. `clockEnv`: the clock of the store, where it jumps. */
export async function ailmentsOf(
  url: string,
  clockEnv: Readonly<Record<string, string>> | null,
): Promise<readonly string[]> {
  const endsAt = performance.now() + HEAL_MS_MAX;
  for (;;) {
    const ailments = await ask(url, clockEnv);
    if (ailments.length === 0 || performance.now() > endsAt) return ailments;
    await sleep(ASK_EVERY_MS);
  }
}

async function ask(
  url: string,
  clockEnv: Readonly<Record<string, string>> | null,
): Promise<readonly string[]> {
  const node = ["--conditions=source", ...(clockEnv === null ? [] : CLOCK_OPTIONS)];
  // A file is read as a whole, however large it has become.
  const depth = url.startsWith("sqlite:") ? ["--deep"] : [];
  const words = ["doctor", ...depth, "--db", url, "-o", "json"];
  const child = spawn(process.execPath, [...node, MAIN, ...words], {
    env: { ...process.env, ...clockEnv },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (code === 0) return [];
  try {
    const checks: readonly { name: string; found: string; fix: string | null }[] = JSON.parse(out);
    return checks.filter(({ fix }) => fix !== null).map(({ name, found }) => `${name}: ${found}`);
  } catch {
    return [`the doctor ended with ${code}: ${err.slice(0, 500)}`];
  }
}
