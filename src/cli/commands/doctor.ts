/** `millrace doctor`: looks for what is wrong, and names the fix for each finding. */
import { statSync } from "node:fs";
import type { Command } from "commander";
import { parseDatabaseUrl } from "../../client/database-url.ts";
import { formatDuration } from "../../core/duration.ts";
import { systemClock } from "../../lib/system.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { OpenedStore } from "../open-store.ts";
import { databaseOption, outputOption } from "../options.ts";
import { json, plain, type Format } from "../output.ts";
import { requireStore, type Shell } from "../shell.ts";
import type { Terminal } from "../terminal.ts";

interface Check {
  readonly name: string;
  readonly found: string;
  /** What to do; `null` when all is well. */
  readonly fix: string | null;
}

const COUNT_MAX = 10_000;
const WORKERS_MAX = 1_000;
/** What others may do with a file: it should be nothing. */
const MODE_OF_OTHERS = 0o077;

interface Options {
  readonly db: string;
  readonly output: Format;
}

export function declareDoctor(program: Command, { terminal, end }: Shell): void {
  program
    .command("doctor")
    .description("Look for what is wrong, and say how to mend it.")
    .addOption(databaseOption())
    .addOption(outputOption())
    .addHelpText("after", "\nExit codes: 0 all is well, 1 something was found.\n")
    .action(async (options: Options) => end(await doctor(options, terminal)));
}

async function doctor({ db, output }: Options, terminal: Terminal): Promise<ExitCode> {
  requireStore(db);
  const { openStore } = await import("../open-store.ts");
  const { migrations } = await import("../../store/sqlite/make.ts");
  const store = await openStore(db);
  try {
    const checks = [
      { name: "node", found: process.versions.node, fix: null },
      { name: "sqlite", found: process.versions["sqlite"] ?? "none", fix: null },
      ...fileModes(parseDatabaseUrl(db).path),
      { name: "schema", found: `version ${migrations.at(-1)?.version ?? 0}`, fix: null },
      ...(await jobChecks(store)),
      ...(await workerChecks(store)),
      ...(await pauseChecks(store)),
    ];
    terminal.out(output === "json" ? json(checks) : checks.map(shown).join(""));
    return checks.every(({ fix }) => fix === null) ? EXIT.success : EXIT.broken;
  } finally {
    await store.close();
  }
}

function shown({ name, found, fix }: Check): string {
  const line = `${fix === null ? "ok     " : "FINDING"}  ${name}: ${plain(found)}\n`;
  return fix === null ? line : `${line}         ${plain(fix)}\n`;
}

/** Payloads may be confidential. SQLite keeps parts of them in two more files. */
function fileModes(path: string): Check[] {
  if (process.platform === "win32" || path === ":memory:") return [];
  return [path, `${path}-wal`, `${path}-shm`].flatMap((file): Check[] => {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    const mode = (stat.mode & 0o777).toString(8).padStart(3, "0");
    const isPrivate = (stat.mode & MODE_OF_OTHERS) === 0;
    if (isPrivate) return [{ name: "file mode", found: `${file} is ${mode}`, fix: null }];
    const found = `${file} is ${mode}: other users may read the payloads`;
    return [{ name: "file mode", found, fix: `chmod 600 ${file}` }];
  });
}

async function jobChecks(store: OpenedStore): Promise<Check[]> {
  const { scheduled, queued, running, failed, oldestQueuedMs } = await store.stats(COUNT_MAX);
  const found = `${scheduled} scheduled, ${queued} queued, ${running} running, ${failed} failed`;
  const workers = await store.workers(WORKERS_MAX);
  const now = systemClock.now();
  const isServed = workers.some(({ until, quiet }) => until > now && !quiet);
  if (queued === 0 || isServed) return [{ name: "jobs", found, fix: null }];
  const waits = oldestQueuedMs === null ? "" : `, the oldest for ${formatDuration(oldestQueuedMs)}`;
  return [
    {
      name: "jobs",
      found: `${found}; they wait${waits} and no worker is working`,
      fix: "millrace worker --jobs FILE",
    },
  ];
}

/** A silent worker has died or is stuck; any other one takes its jobs back. */
async function workerChecks(store: OpenedStore): Promise<Check[]> {
  const workers = await store.workers(WORKERS_MAX);
  const now = systemClock.now();
  const silent = workers.filter(({ until }) => until <= now);
  if (silent.length === 0) {
    return [{ name: "workers", found: `${workers.length} known, none silent`, fix: null }];
  }
  return silent.map(({ id, host, pid, until, running, buffered }) => ({
    name: "workers",
    found:
      `${id} (${host}, pid ${pid}) is silent since ${new Date(until).toISOString()}` +
      ` and holds ${running + buffered} job(s)`,
    fix: "Start any worker and it takes them back: millrace worker --jobs FILE",
  }));
}

async function pauseChecks(store: OpenedStore): Promise<Check[]> {
  const { held } = await store.stats(COUNT_MAX);
  const gates = await store.gates();
  if (held === 0) return [{ name: "pauses", found: `${gates.length}, holding nothing`, fix: null }];
  return gates.map(({ kind, name, reason }) => ({
    name: "pauses",
    found: `the ${kind} ${name} is paused (${reason}); ${held} job(s) are held back in all`,
    fix: `millrace resume --${kind} ${name}`,
  }));
}
