/** What to do about a broken invariant of an invariant. */
import type { JobId } from "../../core/job.ts";

/** The name of a table as a statement has to write it. */
export type QualifyTable = (table: string) => string;

export type Fix =
  /** A statement that cures all of it. */
  | { readonly kind: "sql"; readonly of: (table: QualifyTable) => string }
  /** A command for each job. */
  | { readonly kind: "command"; readonly of: (id: JobId) => string }
  | { readonly kind: "words"; readonly text: string };

export function release(): Fix {
  return command((id) => `millrace jobs release ${id}`);
}

export function command(of: (id: JobId) => string): Fix {
  return { kind: "command", of };
}

export function sql(of: (table: QualifyTable) => string): Fix {
  return { kind: "sql", of };
}

export function words(text: string): Fix {
  return { kind: "words", text };
}

/** The same where the first word is the name of a table. */
export function withTable(from: string, table: QualifyTable): string {
  return from.replace(/^\w+/, table);
}
