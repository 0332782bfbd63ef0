/** `millrace copy`: moves an installation from a SQLite file to PostgreSQL. */
import { Option, type Command } from "commander";
import { parseDatabaseUrl, type DatabaseAddress } from "../../client/database-url.ts";
import { MillraceError } from "../../core/errors.ts";
import type { Comparison } from "../../copy/compare.ts";
import type { CopyParts } from "../../copy/copy.ts";
import { shellWord } from "../../lib/shell-word.ts";
import { systemClock, systemDice } from "../../lib/system.ts";
import type { CopyTarget } from "../../store/shared/copy/ends.ts";
import { progressLines } from "../copy-progress.ts";
import { EXIT, type ExitCode } from "../terminal/exit-codes.ts";
import { outputOption } from "../terminal/options.ts";
import { json, table, type Format } from "../terminal/output.ts";
import type { Shell } from "../shell.ts";
import type { Terminal } from "../terminal/terminal.ts";

interface CopyOptions {
  readonly from: string;
  readonly to: string;
  readonly dryRun?: true;
  readonly verify?: true;
  readonly abandon?: true;
  readonly output: Format;
}

export function declareCopy(program: Command, { terminal, end }: Shell): void {
  program
    .command("copy")
    .description("Move a store from a SQLite file to PostgreSQL.")
    .requiredOption("--from <url>", "the file, such as sqlite:./millrace.db")
    .requiredOption("--to <url>", "an empty PostgreSQL database or schema")
    .addOption(new Option("--dry-run", "count and check rows, and write nothing"))
    .addOption(new Option("--verify", "only compare source and target").conflicts("dryRun"))
    .addOption(
      new Option("--abandon", "empty the target, and let the file accept writes again").conflicts([
        "dryRun",
        "verify",
      ]),
    )
    .addOption(outputOption())
    .addHelpText("after", HELP_AFTER)
    .action(async (options: CopyOptions) => end(await copy(options, terminal)));
}

const HELP_AFTER = `
Ids, payloads, history, keys, dead letters and the feed do not change. Finished jobs are copied
while workers run. Then the file refuses writes, with an error that names the new database, and
running jobs are returned to the queue without a charged attempt. The other rows are copied, source
and target are compared row by row, and then the target is opened.

If the copy is interrupted, run the same command again to continue it.
To give an unfinished copy up, run the same command with --abandon.

Exit codes: 0 moved, or equal; 1 a difference or a problem was found; 2 wrong usage; 5 the source or
the target cannot be used.
`;

async function copy(options: CopyOptions, terminal: Terminal): Promise<ExitCode> {
  const from = parseDatabaseUrl(options.from);
  const to = parseDatabaseUrl(options.to);
  if (from.kind !== "sqlite" || from.path === ":memory:") {
    throw new MillraceError(
      "OPTION_INVALID",
      "--from must be a file, such as sqlite:./millrace.db",
    );
  }
  const { openCopySource } = await import("../../store/sqlite/copy/source.ts");
  const target = await openTarget(to);
  try {
    const source = openCopySource(from.path);
    const report = progressLines(source, systemClock, (line) => terminal.err(`${line}\n`));
    try {
      return await act({ source, target, dice: systemDice, report }, options, terminal);
    } finally {
      source.close();
    }
  } finally {
    await target.close();
  }
}

async function openTarget(address: DatabaseAddress): Promise<CopyTarget> {
  if (address.kind !== "postgres") {
    const message = "--to must be a PostgreSQL database, such as postgres://user@host/database";
    throw new MillraceError("OPTION_INVALID", message);
  }
  const { openCopyTarget } = await import("../../store/postgres/copy/target.ts");
  const { url, schema = "millrace" } = address;
  const { username, host, pathname } = new URL(url);
  const user = username === "" ? "" : `${username}@`;
  // The place is stored in the file and shown to its users, so that it has no password.
  const place = `postgres://${user}${host}${pathname}`;
  const isDefault = schema === "millrace";
  return openCopyTarget({
    url,
    schema,
    place: isDefault ? place : `${place}?schema=${encodeURIComponent(schema)}`,
  });
}

async function act(parts: CopyParts, options: CopyOptions, terminal: Terminal): Promise<ExitCode> {
  const { copyStore, abandonCopy } = await import("../../copy/copy.ts");
  const { source, target } = parts;
  const isJson = options.output === "json";
  if (options.dryRun === true) return rehearse(parts, isJson, terminal);
  if (options.abandon === true) {
    await abandonCopy(parts);
    const words =
      `${source.place} accepts writes again, and ${target.place} is empty.\n` +
      "Start the workers again: those that met the write block have stopped.\n";
    terminal.out(isJson ? json({ from: source.place, to: target.place, abandoned: true }) : words);
    return EXIT.success;
  }
  if (options.verify === true) {
    const { compare } = await import("../../copy/compare.ts");
    return showComparisons(parts, await compare(source, target), isJson, terminal);
  }
  const comparisons = await copyStore(parts);
  if (comparisons !== null) return showComparisons(parts, comparisons, isJson, terminal);
  const words = `${source.place} was moved to ${target.place} before.\n`;
  terminal.out(isJson ? json({ from: source.place, to: target.place, tables: [] }) : words);
  return EXIT.success;
}

async function rehearse(
  { source, target }: CopyParts,
  isJson: boolean,
  terminal: Terminal,
): Promise<ExitCode> {
  const { rehearseCopy } = await import("../../copy/rehearse.ts");
  const { bytes, tables, problems, isContinued } = await rehearseCopy(source, target);
  if (isJson) {
    const { place: from } = source;
    terminal.out(json({ from, to: target.place, bytes, isContinued, tables, problems }));
  } else {
    const rows = tables.map(({ name, rows: count }) => [name, String(count)]);
    terminal.out(table(["TABLE", "ROWS"], rows));
    terminal.out(`\nThe file has ${megabytes(bytes)}; the target needs about twice as much.\n`);
    if (isContinued) terminal.out("The target holds an unfinished copy, which would continue.\n");
    for (const problem of problems) terminal.out(`PROBLEM: ${problem}\n`);
    terminal.out("Nothing was written.\n");
  }
  return problems.length === 0 ? EXIT.success : EXIT.broken;
}

function showComparisons(
  { source, target }: CopyParts,
  comparisons: readonly Comparison[],
  isJson: boolean,
  terminal: Terminal,
): ExitCode {
  const isEqual = comparisons.every((each) => each.isEqual);
  if (isJson) {
    terminal.out(json({ from: source.place, to: target.place, isEqual, tables: comparisons }));
    return isEqual ? EXIT.success : EXIT.broken;
  }
  const rows = comparisons.map((each) => [
    each.table,
    String(each.source.rows),
    String(each.target.rows),
    each.source.sha256.slice(0, 16),
    each.isEqual ? "equal" : "DIFFERENT",
  ]);
  terminal.out(table(["TABLE", "SOURCE", "TARGET", "SHA256", ""], rows));
  for (const { table: name, difference } of comparisons) {
    if (difference === null) continue;
    terminal.out(`\nThe first difference in ${name}:\n`);
    terminal.out(`  source  ${difference.source ?? "no more rows"}\n`);
    terminal.out(`  target  ${difference.target ?? "no more rows"}\n`);
  }
  terminal.out(isEqual ? equalWords(target.place) : DIFFERENT_WORDS);
  return isEqual ? EXIT.success : EXIT.broken;
}

function equalWords(place: string): string {
  return `\nSource and target are equal. Point your processes to ${shellWord(place)}.\n`;
}

const DIFFERENT_WORDS = `
Source and target differ. The target of an unfinished copy stays closed: abandon the copy with
--abandon, and start it again. A finished copy differs from its source as soon as jobs run on it.
`;

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
