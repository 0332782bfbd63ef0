/** Starts a process with a heartbeat thread, and answers what the thread has loaded and needed. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const PROGRAM = fileURLToPath(new URL("thread.child.ts", import.meta.url));
const LISTER = new URL("list-modules.ts", import.meta.url).href;
const ROOT = pathToFileURL(join(import.meta.dirname, "../../../..")).href;

export interface ThreadFigures {
  /** From the start of the thread to the answer of its first renewal. */
  readonly firstBeatMs: number;
  /** How much the memory of the process has grown by then. */
  readonly megabytes: number;
}

/** `root` is `src`, or `dist` of a build. */
export async function threadFigures(url: string, root: "src" | "dist"): Promise<ThreadFigures> {
  return figuresOf(url, root, [], {});
}

/** The files that the thread loads before its first beat, relative to the repository. */
export async function threadModules(url: string, root: "src" | "dist"): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-modules-"));
  const list = join(folder, "modules");
  try {
    await figuresOf(url, root, ["--import", LISTER], { MILLRACE_MODULE_LIST: list });
    const urls = existsSync(list) ? readFileSync(list, "utf8").trimEnd().split("\n") : [];
    return urls
      .filter((each) => each.startsWith("file:") && each !== LISTER)
      .map((each) => each.slice(ROOT.length + 1));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function figuresOf(
  url: string,
  root: string,
  preload: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ThreadFigures> {
  const execArgv = ["--conditions=source", "--expose-gc", ...preload];
  const child = fork(PROGRAM, [url, root], { execArgv, env: { ...process.env, ...env } });
  const exited = once(child, "exit");
  const told = once(child, "message");
  const [figures] = await Promise.race([told, exited.then(failed)]);
  child.disconnect();
  await exited;
  return figures;
}

function failed(): never {
  throw new Error("the process with the heartbeat thread has ended without a beat");
}
