/** How to fix a broken invariant. */
import type { JobId } from "../../core/job.ts";

/** Gives the name of a table as SQL of the dialect writes it. */
export type QualifyTable = (table: string) => string;

export type Fix =
  /** One statement that fixes all jobs. */
  | { readonly kind: "sql"; readonly of: (table: QualifyTable) => string }
  /** One command per job. */
  | {
      readonly kind: "command";
      readonly verb: "release" | "cancel";
      readonly of: (id: JobId) => string;
    }
  /** `millrace doctor --fix` removes the wrong runs from the leases. */
  | { readonly kind: "leases" }
  | { readonly kind: "words"; readonly text: string };

/** `--force`: the worker of the job may be alive. */
export function release(option?: "--force"): Fix {
  const end = option === undefined ? "" : ` ${option}`;
  return { kind: "command", verb: "release", of: (id) => `millrace jobs release ${id}${end}` };
}

export function cancel(): Fix {
  return { kind: "command", verb: "cancel", of: (id) => `millrace jobs cancel ${id}` };
}

export function sql(of: (table: QualifyTable) => string): Fix {
  return { kind: "sql", of };
}

export function words(text: string): Fix {
  return { kind: "words", text };
}

/** Replaces the first word, the name of a table. */
export function withTable(from: string, table: QualifyTable): string {
  return from.replace(/^\w+/, table);
}
