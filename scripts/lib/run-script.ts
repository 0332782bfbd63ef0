/** Runs a script from source in its own process: a bug is planted while the source is loaded. */
import { spawn } from "node:child_process";

interface RunOptions {
  /** The planted bug of the simulation. */
  readonly mutant?: string;
  /** Its output goes where the output of this process goes. */
  readonly isHeard?: boolean;
}

/** More than the slowest planted bug needs for all its seeds. */
const RUN_MS_MAX = 3_600_000;

export async function runScript(
  args: readonly string[],
  { mutant, isHeard = false }: RunOptions = {},
): Promise<{ readonly code: number; readonly output: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const plant = new URL("../../test/simulation/mutants/load-mutant.ts", import.meta.url).href;
  const child = spawn(
    process.execPath,
    ["--conditions=source", ...(mutant === undefined ? [] : ["--import", plant]), ...args],
    {
      env: { ...process.env, ...(mutant === undefined ? {} : { MILLRACE_MUTANT: mutant }) },
      stdio: ["ignore", isHeard ? "inherit" : "pipe", "inherit"],
      timeout: RUN_MS_MAX,
    },
  );
  let output = "";
  child.stdout?.on("data", (chunk) => (output += String(chunk)));
  child.on("error", reject);
  child.on("close", (code) => resolve(code ?? 1));
  return { code: await promise, output };
}
