/** `millrace audit`: what operators have done, and whether the record was changed. */
import { readFileSync } from "node:fs";
import { InvalidArgumentError, Option, type Command } from "commander";
import type {
  AuditEntry,
  AuditFilter,
  AuditHead,
  AuditVerdict,
} from "../../../api/control/audit.ts";
import { AUDIT_NAMES, AUDIT_SUBJECTS } from "../../../core/audit/names.ts";
import { given, withExistingMill, type Shell } from "../../shell.ts";
import { CommandFailure, EXIT } from "../../terminal/exit-codes.ts";
import {
  databaseOption,
  limitOption,
  outputOption,
  parsePast,
  serverOption,
} from "../../terminal/options.ts";
import { json, table, type Format } from "../../terminal/output.ts";

type FilterOptions = Omit<AuditFilter, "after" | "limit"> & {
  readonly db: string;
  readonly installation?: true;
};

export function declareAudit(program: Command, shell: Shell): void {
  const audit = program
    .command("audit")
    .description("Read what operators have done, and check that the record was not changed.");
  declareList(audit, shell);
  declareExport(audit, shell);
  declareVerify(audit, shell);
}

function declareList(parent: Command, { terminal, end }: Shell): void {
  filtered(parent.command("list"))
    .description("List acts of operators, newest first.")
    .addOption(limitOption())
    .option("--after <id>", "the id of the last entry of the page before", parseEntryId)
    .addOption(outputOption())
    .addHelpText("after", LIST_HELP_AFTER)
    .action(async (options: FilterOptions & { limit: number; after?: number; output: Format }) => {
      const { db, output, limit, after, ...filter } = options;
      const page = given({ limit, after });
      const found = await withExistingMill(db, (mill) =>
        mill.audit.list({ ...filterOf(filter), ...page }),
      );
      if (output === "json") terminal.out(json(found));
      else if (found.length === 0) terminal.err("There are no such entries.\n");
      else terminal.out(table(HEADINGS, found.map(rowOf)));
      end(EXIT.success);
    });
}

const LIST_HELP_AFTER = `
Examples:
  millrace audit list --actor ada --from 7d
  millrace audit list --subject job:01M7GQMY55ECET74219MBT9GXQ
`;

const HEADINGS = ["ID", "AT", "ACT", "SUBJECT", "TENANT", "BY", "REASON"];

function rowOf(entry: AuditEntry): string[] {
  const { id, at, name, subject, tenant, actor, reason } = entry;
  const about = `${subject.kind} ${subject.name}`;
  return [String(id), at.toISOString(), name, about, tenant ?? "", actor ?? "", reason ?? ""];
}

function declareExport(parent: Command, { terminal, end }: Shell): void {
  filtered(parent.command("export"))
    .description("Print all acts of operators, oldest first, one JSON object per line.")
    .addHelpText("after", "\nExample:\n  millrace audit export --from 30d > audit.jsonl\n")
    .action(async ({ db, ...filter }: FilterOptions) => {
      await withExistingMill(db, async (mill) => {
        for await (const line of mill.audit.export(filterOf(filter))) terminal.out(line);
      });
      end(EXIT.success);
    });
}

function declareVerify(parent: Command, { terminal, end }: Shell): void {
  parent
    .command("verify")
    .description("Check every entry: what was removed, altered, swapped or inserted.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .option("--head <file>", "an earlier answer of this command with -o json, to compare with")
    .addOption(outputOption())
    .addHelpText("after", VERIFY_HELP_AFTER)
    .action(async (options: { db: string; head?: string; output: Format }) => {
      const heads = options.head === undefined ? {} : { heads: headsIn(options.head) };
      const verdict = await withExistingMill(options.db, (mill) => mill.audit.verify(heads));
      terminal.out(options.output === "json" ? json(verdict) : sentencesOf(verdict));
      end(verdict.isIntact ? EXIT.success : EXIT.broken);
    });
}

const VERIFY_HELP_AFTER = `
The answer has the last hash of each chain, its head. Keep it outside the database: the owner of a
database can rewrite a chain from any place to its end, and only an earlier head shows it.

Exit codes: 0 nothing was found, 1 something was found.

Example:
  millrace audit verify -o json > head.json
  millrace audit verify --head head.json
`;

function sentencesOf(verdict: AuditVerdict): string {
  const { findings, more, sealed, unsealed, heads } = verdict;
  const counts = `${sealed} sealed, ${unsealed} not sealed yet, ${heads.length} chain(s).\n`;
  if (findings.length === 0) return `The audit is intact: ${counts}`;
  const others = more === 0 ? "" : `${more} more findings.\n`;
  return `${findings.map(({ message }) => `${message}\n`).join("")}${others}${counts}`;
}

/** The heads of an earlier answer. */
function headsIn(file: string): readonly AuditHead[] {
  try {
    const read: unknown = JSON.parse(readFileSync(file, "utf8"));
    const isAnswer = typeof read === "object" && read !== null && "heads" in read;
    // The library checks each head.
    const heads: any = isAnswer ? read.heads : read;
    return heads;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`--head: ${file} cannot be read: ${why}`, {
      hint: "Name a file with the output of: millrace audit verify -o json",
      exitCode: EXIT.usage,
    });
  }
}

function filtered(command: Command): Command {
  return command
    .addOption(databaseOption())
    .addOption(serverOption())
    .option("--tenant <name>", "acts about this tenant")
    .addOption(
      new Option("--installation", "acts about the whole installation").conflicts("tenant"),
    )
    .addOption(new Option("--name <name>", "acts of this name").choices(Object.keys(AUDIT_NAMES)))
    .option("--actor <name>", "acts of this person")
    .option("--subject <kind:name>", "acts about this subject, such as lane:fast", parseSubject)
    .option("--from <time>", "acts since then, such as 7d or 2026-01-31", parsePast)
    .option("--to <time>", "acts before then", parsePast);
}

function filterOf({ installation, ...filter }: Omit<FilterOptions, "db">): AuditFilter {
  const { tenant, name, actor, subject, from, to } = filter;
  const whose = installation === true ? null : tenant;
  return given({ tenant: whose, name, actor, subject, from, to });
}

function parseSubject(text: string): { kind: string; name: string } {
  const [, kind = "", name = ""] = /^(\w+):(.+)$/s.exec(text) ?? [];
  if (AUDIT_SUBJECTS.some((known) => known === kind)) return { kind, name };
  throw new InvalidArgumentError(
    `Write a kind and a name, such as lane:fast. Kinds: ${AUDIT_SUBJECTS.join(", ")}.`,
  );
}

function parseEntryId(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("The id of an entry is a whole number.");
}
