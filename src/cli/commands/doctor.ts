/** `millrace doctor`: checks an installation, and names the fix for each finding. */
import { statSync } from "node:fs";
import type { Command } from "commander";
import { parseDatabaseUrl, type DatabaseAddress } from "../../client/database-url.ts";
import { plain } from "../../lib/plain-text.ts";
import { shellWord } from "../../lib/shell-word.ts";
import { EXIT, type ExitCode } from "../terminal/exit-codes.ts";
import { applyFixes, type AppliedFix, type Installation } from "./doctor-fix.ts";
import { contentChecks } from "./doctor-content.ts";
import { fileChecks, type DoctorCheck } from "./doctor-file-findings.ts";
import { databaseOption, outputOption } from "../terminal/options.ts";
import { json, type Format } from "../terminal/output.ts";
import { requireStore, type Shell } from "../shell.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { invariantChecks, type FixForm } from "./doctor-invariants.ts";
import { partialChecks, type PartialCheck } from "./doctor-partial.ts";
import { unfinishedChecks } from "./doctor-unfinished.ts";

/** The permission bits of other users, which should not be set. */
const MODE_OF_OTHERS = 0o077;

type ServerAddress = Extract<DatabaseAddress, { kind: "postgres" }>;

interface DoctorOptions {
  readonly db: string;
  readonly output: Format;
  readonly deep?: boolean;
  readonly fix?: boolean;
}

export function declareDoctor(program: Command, { terminal, end }: Shell): void {
  program
    .command("doctor")
    .description("Check an installation, and print a fix for each finding.")
    .addOption(databaseOption())
    .addOption(outputOption())
    .option("--deep", "check every row, and run the checks that read whole tables or the file")
    .option("--fix", "apply the fixes that a program can apply; make a backup first")
    .addHelpText("after", HELP_AFTER)
    .action(async (options: DoctorOptions) => end(await doctor(options, terminal)));
}

const HELP_AFTER = `
Doctor finds jobs that no worker would run or that would run twice, keys, dead letters, tags and
feed entries that contradict their jobs, workers that are silent or whose heartbeat is overdue,
queued jobs of a type, a lane or a tenant that no worker takes, and audit entries that were removed,
altered or inserted. A SQLite file is also checked for damage. On PostgreSQL, doctor also finds what
holds back vacuum, dead rows, bloated indexes, and manual changes of the schema. Without --fix,
doctor changes nothing. Workers keep running.

On PostgreSQL, and in a file of more than 32 MB, doctor examines a bounded number of rows, so that
it takes seconds. PART marks checks that have not examined all rows; --deep examines all.

With --fix, doctor repairs leases, places and other rows that contradict their jobs, prints each
fix, and checks again.

Exit codes: 0 nothing was found or is left, 1 something was found or is left.
`;

const CUT_SHORT: DoctorCheck = {
  name: "fixes",
  found: "the maximum of passes was reached, and more may be left to fix",
  fix: "Run millrace doctor --fix again.",
};

async function doctor(
  { db, output, deep, fix }: DoctorOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  requireStore(db);
  const address = parseDatabaseUrl(db);
  const installation =
    address.kind === "sqlite"
      ? await openFileInstallation(db, address.path, deep === true)
      : await openServer(address, deep === true);
  try {
    const { fixes, isCutShort } =
      fix === true ? await applyFixes(installation) : { fixes: [], isCutShort: false };
    const node: DoctorCheck = { name: "node", found: process.versions.node, fix: null };
    const checks = [node, ...(await installation.check()), ...(isCutShort ? [CUT_SHORT] : [])];
    const told = [...fixes, ...checks].map(({ repair: _repair, ...check }) => check);
    terminal.out(output === "json" ? json(told) : told.map(shown).join(""));
    return checks.every((check) => check.fix === null) ? EXIT.success : EXIT.broken;
  } finally {
    await installation.store.close();
  }
}

async function openFileInstallation(
  url: string,
  path: string,
  isDeep: boolean,
): Promise<Installation> {
  const { openFile } = await import("../open-file.ts");
  const { migrations } = await import("../../store/sqlite/create.ts");
  const store = await openFile(url, "");
  const check = async (): Promise<DoctorCheck[]> => {
    const examined = await store.examine({ isDeep });
    const isDamaged = examined.findings.some(({ kind }) => kind === "damaged");
    return [
      { name: "sqlite", found: process.versions["sqlite"] ?? "none", fix: null },
      ...fileModes(path),
      { name: "schema", found: `version ${migrations.at(-1)?.version ?? 0}`, fix: null },
      ...fileChecks(examined, path),
      ...(isDamaged
        ? []
        : invariantChecks(examined.brokenInvariants, examined.isRead, inFile(path))),
      ...partialChecks(examined.cutShort),
      // The contents of a damaged file may be wrong, and reading them may fail.
      ...(isDamaged ? [] : await contentChecks(store, isDeep)),
    ];
  };
  return { store, check };
}

async function openServer({ url, schema }: ServerAddress, isDeep: boolean): Promise<Installation> {
  const { makePostgresStore, migrations } = await import("../../store/postgres/create.ts");
  const place = schema === undefined ? { url } : { url, schema };
  const store = makePostgresStore(place, { create: false });
  await store.open();
  const check = async (): Promise<DoctorCheck[]> => {
    const examined = await store.examine({ isDeep });
    const { version, bytes, deadRows, findings, brokenInvariants, unfinished } = examined;
    const size = `${Math.round(bytes / 1024 ** 2)} MB, ${deadRows} dead rows`;
    return [
      { name: "postgresql", found: version, fix: null },
      { name: "schema", found: `version ${migrations.at(-1)?.version ?? 0}`, fix: null },
      { name: "size", found: size, fix: null },
      ...findings,
      ...invariantChecks(brokenInvariants, isDeep, onServer(schema ?? "millrace"), unfinished),
      ...unfinishedChecks(unfinished),
      ...partialChecks(examined.cutShort),
      ...(await contentChecks(store, isDeep)),
    ];
  };
  return { store, check };
}

function inFile(path: string): FixForm {
  return {
    table: (name) => `millrace_${name}`,
    run: (sql) => `Make a copy (millrace backup), then run this SQL on ${path}: ${sql}`,
  };
}

function onServer(schema: string): FixForm {
  const quoted = schema.replaceAll('"', '""');
  return { table: (name) => `"${quoted}"."${name}"`, run: (sql) => sql };
}

function shown(check: DoctorCheck & Partial<AppliedFix & PartialCheck>): string {
  const { name, found, fix, fixed, error, full } = check;
  if (full !== undefined) return `PART     ${name}: ${found}\n         ${full}\n`;
  if (fixed !== undefined) {
    const end = fixed ? "FIXED  " : "FAILED ";
    return `${end}  ${name}: ${plain(found)}\n         ${plain(error ?? fix ?? "")}\n`;
  }
  const line = `${fix === null ? "ok     " : "FINDING"}  ${name}: ${plain(found)}\n`;
  return fix === null ? line : `${line}         ${plain(fix)}\n`;
}

/** Payloads may be confidential, and SQLite writes them to two more files. */
function fileModes(path: string): DoctorCheck[] {
  if (process.platform === "win32" || path === ":memory:") return [];
  return [path, `${path}-wal`, `${path}-shm`].flatMap((file): DoctorCheck[] => {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    const mode = (stat.mode & 0o777).toString(8).padStart(3, "0");
    const isPrivate = (stat.mode & MODE_OF_OTHERS) === 0;
    if (isPrivate) return [{ name: "file mode", found: `${file} is ${mode}`, fix: null }];
    const found = `${file} is ${mode}: other users may read the payloads`;
    return [{ name: "file mode", found, fix: `chmod 600 ${shellWord(file)}` }];
  });
}
