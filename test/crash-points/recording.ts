/** Plays the script under `strace` and reads back every call that changes a file or syncs it. */
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, mkdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { temporaryFolder } from "../e2e/children.ts";
import type { Script, Temper } from "./script.ts";

/** A promise that the child breaks on purpose; see `script.child.ts`. */
export type Weakness = "early-ack" | "late-feed" | "sync-normal" | "sync-off";

/** What a call did to the folder of the database, or that a step was acknowledged. */
export type Operation =
  | Effect
  | { readonly kind: "sync"; readonly file: number }
  | { readonly kind: "sync-folder" }
  | { readonly kind: "ack" };

/** A file has a number of its own: a name may stand for one file now and for another later. */
export type Effect =
  | { readonly kind: "link"; readonly name: string; readonly file: number }
  | { readonly kind: "unlink"; readonly name: string }
  | { readonly kind: "rename"; readonly from: string; readonly name: string; readonly file: number }
  | {
      readonly kind: "write";
      readonly file: number;
      readonly offset: number;
      readonly bytes: Buffer;
    }
  | { readonly kind: "truncate"; readonly file: number; readonly size: number };

/** A call of the child, in the words of strace. */
export interface Call {
  readonly thread: string;
  readonly name: string;
  readonly args: readonly string[];
  /** The file or folder that it is about, below the stage. */
  readonly path: string;
}

const CHANGES = ["pwrite64", "ftruncate", "link", "unlink", "rename"];
const SYNCS = ["fsync", "fdatasync"];
/** Larger than any write of SQLite. */
const BYTES_MAX = 1_000_000;
/** Other ways to change a file. One that is used must be modelled here before it is trusted. */
const UNKNOWN = ["pwritev", "writev", "fallocate", "truncate", "linkat", "unlinkat", "renameat2"];

/** Instead of a thousand, so that a short script meets many of these moments. */
const CHECKPOINT_PAGES = 40;

const CHILD = join(import.meta.dirname, "script.child.ts");
const COMPILED = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "crash-points");

/** Why this machine cannot show it; null when it can. */
export function obstacle(): string | null {
  const { error, status, stderr } = spawnSync("strace", ["-f", "true"], {
    encoding: "utf8",
  });
  if (error !== undefined) return "strace is not installed";
  return status === 0 ? null : `strace is not allowed to trace here: ${stderr.slice(-200)}`;
}

/** How to play: in which folder, how often the log is folded into the database, how badly. */
export interface Play {
  readonly stage: string;
  readonly script?: Script | undefined;
  readonly checkpointPages?: number;
  readonly temper?: Temper | undefined;
  readonly weakness?: Weakness | undefined;
}

export interface Ending {
  readonly code: number | NodeJS.Signals | null;
  readonly complaints: string;
}

/** Plays the script to its end. Answers what it did, in order. */
export async function record(play: Omit<Play, "stage"> = {}): Promise<readonly Call[]> {
  using stage = temporaryFolder();
  const trace = join(stage.path, "trace");
  const calls = ["openat", "write", ...CHANGES, ...SYNCS, ...UNKNOWN].join(",");
  const options = ["-y", "-xx", "-s", String(BYTES_MAX), "-o", trace, "-e", `trace=${calls}`];
  const { code, complaints } = await playUnderStrace(options, { ...play, stage: stage.path });
  if (code !== 0) throw new Error(`the script ended with ${code}: ${complaints}`);
  return callsOf(readFileSync(trace, "utf8"))
    .filter(({ path }) => path.startsWith(stage.path))
    .map((call) => ({ ...call, path: relative(stage.path, call.path) }));
}

/** Plays the script in the folder `database` of a stage; its acknowledgements lie beside. */
export function playUnderStrace(options: readonly string[], play: Play): Promise<Ending> {
  const { stage, checkpointPages = CHECKPOINT_PAGES } = play;
  const { temper = "resigned", weakness = "none", script = "work" } = play;
  const folder = join(stage, "database");
  mkdirSync(folder);
  const manner = [String(checkpointPages), temper, weakness, script];
  const args = [folder, join(stage, "acks"), ...manner];
  const child = spawn("strace", ["-f", "-qq", ...options, process.execPath, CHILD, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
    // The child is started hundreds of times.
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
  });
  let complaints = "";
  child.stderr.on("data", (text) => (complaints += String(text)));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code: code ?? signal, complaints }));
  });
}

/** A kill at any of these calls leaves something else behind. */
export function isCrashPoint({ name }: Call): boolean {
  return name === "write" || CHANGES.includes(name) || SYNCS.includes(name);
}

/** The calls that succeeded, in the order in which they ended. */
function callsOf(trace: string): Call[] {
  const begun = new Map<string, string>();
  return trace.split("\n").flatMap((line): Call[] => {
    const [, thread = "", text = ""] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    if (text.endsWith("<unfinished ...>")) {
      begun.set(thread, text.slice(0, -"<unfinished ...>".length).trimEnd());
      return [];
    }
    const rest = /^<\.\.\. \w+ resumed>(.*)$/.exec(text)?.[1];
    const whole = rest === undefined ? text : `${begun.get(thread)}${rest}`;
    const [, name, args, answer] = /^(\w+)\((.*)\)\s+= (.*)$/.exec(whole) ?? [];
    if (name === undefined || args === undefined || answer?.startsWith("-1")) return [];
    const parts = args.split(", ");
    return [{ thread, name, args: parts, path: pathOf(name, parts) }];
  });
}

/** Of two paths the second, which is the one that changes. */
function pathOf(name: string, args: readonly string[]): string {
  const isSecond = name === "openat" || name === "link" || name === "rename";
  return textOf(args[isSecond ? 1 : 0]);
}

/** What stands between quotes, or between the brackets behind a descriptor. */
function textOf(arg = ""): string {
  return bytesOf(/["<](.*)[">]/.exec(arg)?.[1] ?? "").toString();
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(String.raw`\x`, ""), "hex");
}

/** What the calls did to the files of the database. The shared memory of SQLite is no such file. */
export function operationsOf(calls: readonly Call[]): readonly Operation[] {
  const files = new Map<string, number>();
  let count = 0;
  return calls.flatMap((call): Operation[] => {
    const name = basename(call.path);
    if (call.name === "write" && call.path === "acks") return [{ kind: "ack" }];
    if (SYNCS.includes(call.name) && call.path === "database") return [{ kind: "sync-folder" }];
    if (dirname(call.path) !== "database" || name.endsWith("-shm")) return [];
    if (call.name === "openat") {
      if (files.has(name) || !call.args[2]?.includes("O_CREAT")) return [];
      files.set(name, (count += 1));
      return [{ kind: "link", name, file: count }];
    }
    const moves = call.name === "rename" || call.name === "link";
    const from = moves ? basename(textOf(call.args[0])) : name;
    const file = files.get(from);
    if (file === undefined) throw new Error(`${call.name} on ${from}, which was not opened`);
    if (moves) files.set(name, file);
    if (call.name === "rename") files.delete(from);
    if (call.name === "unlink") files.delete(name);
    return [operationOf(call, { name, from, file })];
  });
}

function operationOf(
  { name: call, args }: Call,
  { name, from, file }: { readonly name: string; readonly from: string; readonly file: number },
): Operation {
  if (SYNCS.includes(call)) return { kind: "sync", file };
  switch (call) {
    case "pwrite64": {
      const bytes = bytesOf(args[1]?.slice(1, -1) ?? "");
      return { kind: "write", file, offset: Number(args[3]), bytes };
    }
    case "ftruncate":
      return { kind: "truncate", file, size: Number(args[1]) };
    case "link":
      return { kind: "link", name, file };
    case "rename":
      return { kind: "rename", from, name, file };
    case "unlink":
      return { kind: "unlink", name };
    default:
      throw new Error(`${call} is not modelled`);
  }
}
