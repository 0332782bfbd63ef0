/** `millrace process`: writes the migration file of a business process in SQL. */
import { writeFileSync } from "node:fs";
import { Option, type Command } from "commander";
import { processMigration } from "./process-migration.ts";
import { processNames } from "./process-names.ts";
import type { Shell } from "../../shell.ts";
import { CommandFailure, EXIT } from "../../terminal/exit-codes.ts";
import { outputOption } from "../../terminal/options.ts";
import { json, type Format } from "../../terminal/output.ts";
import { shownPath } from "../../terminal/shown-path.ts";

interface NewOptions {
  readonly channel: string;
  readonly root: string;
  readonly references?: string;
  readonly maxAttempts: string;
  readonly schema: string;
  readonly out?: string;
  readonly output: Format;
}

export function declareProcess(program: Command, { terminal, end }: Shell): void {
  program
    .command("process")
    .description("Write business processes in SQL, for PostgreSQL.")
    .command("new <name>")
    .description("Write the migration of a process: facts, supervisor, handlers, grants.")
    .addOption(
      new Option(
        "--channel <type>",
        "job type that does the work: email, sms, file_delete, webhook, yours, or db_function",
      ).makeOptionMandatory(),
    )
    .option("--root <column[:type]>", "what the process is about", "subject_id:bigint")
    .option("--references <table>", "table of the root: schema.table or schema.table.column")
    .option("--max-attempts <number>", "failed attempts until the process is stuck", "5")
    .option("--schema <name>", "schema of the installation", "millrace")
    .option("--out <file>", "new file to write; a file that exists is never overwritten")
    .addOption(outputOption())
    .addHelpText("after", HELP_AFTER)
    .action(async (name: string, options: NewOptions) => {
      const { templates } = await import("../../../store/postgres/create.ts");
      const names = processNames({ ...options, name });
      const sql = processMigration(templates.process, names);
      const file = options.out ?? null;
      if (file !== null) writeNew(file, sql);
      const answer = { process: name, channel: names.channel, file, sql };
      if (options.output === "json") terminal.out(json(answer));
      else if (file === null) terminal.out(sql);
      else terminal.err(`${shownPath(file)} is written. Fill in what is marked TO DO.\n`);
      end(EXIT.success);
    });
}

const HELP_AFTER = `
The migration is printed, unless --out names a new file. It needs no store. The file is yours: edit
it, and run it once as the owner of the installation. NAME is schema.process; the schema is created
if it is missing. With --channel db_function an attempt is a function in SQL, and no channel task.

Examples:
  millrace process new comms.send_email --channel email --root email_message_id \\
    --references comms.email_message --out migrations/0007_send_email.sql
  millrace process new billing.close_month --channel db_function --root month_id:uuid
`;

function writeNew(file: string, sql: string): void {
  try {
    writeFileSync(file, sql, { flag: "wx" });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const isThere = code === "EEXIST";
    throw new CommandFailure(
      isThere
        ? `${shownPath(file)} exists, and is not overwritten.`
        : `${shownPath(file)} cannot be written (${code}).`,
      {
        hint: isThere ? "Name a new file with --out." : "Name a file in a folder that exists.",
        exitCode: EXIT.usage,
      },
    );
  }
}
