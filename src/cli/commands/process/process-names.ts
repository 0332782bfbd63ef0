/**
 * The names that a new business process is made of. They become part of SQL as they are, so each is
 * a plain identifier that PostgreSQL takes without quotes.
 */
import { CommandFailure, EXIT } from "../../terminal/exit-codes.ts";
import { isReserved } from "./reserved-words.ts";

export interface ProcessNames {
  /** The schema of the process. */
  readonly schema: string;
  readonly process: string;
  readonly root: RootColumn;
  readonly referenced: ReferencedColumn | null;
  readonly channel: string;
  readonly maxAttempts: number;
  /** The schema of the installation. */
  readonly installation: string;
}

interface RootColumn {
  readonly name: string;
  readonly type: string;
}

interface ReferencedColumn {
  readonly table: string;
  readonly column: string;
}

export interface ProcessWords {
  readonly name: string;
  readonly channel: string;
  readonly root: string;
  readonly references?: string;
  readonly maxAttempts: string;
  readonly schema: string;
}

/** Columns of the tables, and the variables of functions with an underscore before them. */
const TAKEN = (
  "answer attempt_id check created_at error_message failures field first_delay longest_delay " +
  "next_check outcome_within payload process_key row scheduled_at task_id tenant " +
  "validation_failure_message"
).split(" ");
const ROOT_TYPES = ["bigint", "integer", "text", "uuid"];
const MAX_ATTEMPTS = 100;
/** `count_…_failed_attempts` has to fit the 63 bytes of a name. */
const PROCESS_LENGTH = 40;
const SCHEMA_LENGTH = 63;
/** Variables have the name of a column with an underscore before it. */
const COLUMN_LENGTH = 62;
/** The longest name of a role has `_maintenance` behind that of the installation. */
const INSTALLATION_LENGTH = 50;

/** Reads the words of a command line, and refuses what could mean more than a name. */
export function processNames(words: ProcessWords): ProcessNames {
  const [schema = "", process = "", ...more] = words.name.split(".");
  if (process === "" || more.length > 0) {
    throw refusal(`${shown(words.name)} is not a name such as comms.send_email.`);
  }
  const installation = identifier(words.schema, "--schema", INSTALLATION_LENGTH);
  requireSchema(identifier(schema, "the schema", SCHEMA_LENGTH), installation);
  identifier(process, "the process", PROCESS_LENGTH, { part: true });
  const root = rootColumn(words.root, process);
  return {
    schema,
    process,
    root,
    referenced: referencedColumn(words.references, root.name),
    channel: channelType(words.channel),
    maxAttempts: attempts(words.maxAttempts),
    installation,
  };
}

function requireSchema(schema: string, installation: string): void {
  if (schema === installation) {
    throw refusal(`The schema ${schema} belongs to Millrace: choose another one.`);
  }
  if (schema.startsWith("pg_") || schema === "information_schema") {
    throw refusal(`The schema ${schema} belongs to PostgreSQL: choose another one.`);
  }
}

function rootColumn(text: string, process: string): RootColumn {
  const [name = "", type = "bigint", ...more] = text.split(":");
  identifier(name, "the column of --root", COLUMN_LENGTH);
  if (more.length > 0 || !ROOT_TYPES.includes(type)) {
    throw refusal(`The type of --root must be one of ${ROOT_TYPES.join(", ")}.`);
  }
  const taken = [...TAKEN, `${process}_attempt_id`, `${process}_task_id`];
  if (taken.includes(name)) {
    throw refusal(
      `${name} is used by the process already: name another column with --root, ` +
        `and none of ${taken.join(", ")}.`,
    );
  }
  return { name, type };
}

function referencedColumn(text: string | undefined, root: string): ReferencedColumn | null {
  if (text === undefined) return null;
  const [schema = "", table = "", column = root, ...more] = text.split(".");
  if (table === "" || more.length > 0) {
    throw refusal(`--references takes schema.table or schema.table.column, not ${shown(text)}.`);
  }
  identifier(schema, "the schema of --references", SCHEMA_LENGTH);
  identifier(table, "the table of --references", SCHEMA_LENGTH);
  identifier(column, "the column of --references", SCHEMA_LENGTH);
  return { table: `${schema}.${table}`, column };
}

function channelType(text: string): string {
  if (/^[A-Za-z][A-Za-z0-9_.-]{0,99}$/.test(text)) return text;
  throw refusal(`--channel takes a job type of letters, digits, _ . and -, not ${shown(text)}.`);
}

function attempts(text: string): number {
  const value = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MAX_ATTEMPTS) return value;
  throw refusal(`--max-attempts takes a whole number from 1 to ${MAX_ATTEMPTS}.`);
}

/** A part of longer names may be a word that PostgreSQL reserves. */
function identifier(text: string, subject: string, length: number, { part = false } = {}): string {
  if (!/^[a-z][a-z0-9_]*$/.test(text)) {
    throw refusal(
      `${shown(text)} cannot be ${subject}: a name has small letters, digits and underscores.`,
    );
  }
  if (text.length > length) {
    throw refusal(`${shown(text)} cannot be ${subject}: it has more than ${length} characters.`);
  }
  if (!part && isReserved(text)) {
    throw refusal(`${text} cannot be ${subject}: PostgreSQL reserves this word.`);
  }
  return text;
}

function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);
}

function refusal(message: string): CommandFailure {
  const hint = "Example: millrace process new comms.send_email --channel email";
  return new CommandFailure(message, { hint, exitCode: EXIT.usage });
}
