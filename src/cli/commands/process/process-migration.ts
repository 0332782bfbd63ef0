/**
 * The migration file of a business process. The template is SQL that reads and runs by itself, for
 * a process `domain.foo` about a `subject_id`; the names are replaced in one pass, so that a name
 * that was put in is never replaced again.
 */
import type { ProcessNames } from "./process-names.ts";

/** Blocks that only some processes have: `-- when: NAME`, `-- otherwise`, `-- end`. */
const BLOCK = /^ *-- when: (\w+)\n([^]*?)(?:^ *-- otherwise\n([^]*?))?^ *-- end\n/gm;
const NAMES = new RegExp(
  [
    "the_installation",
    "the_worker",
    "the_engine",
    "the_type",
    "referenced_table",
    "referenced_column",
    String.raw`millrace(?=\.\w)`,
    "RETURN 5(?=;)",
    "(?<=subject_id )bigint",
    String.raw`(?<=is_foo_stuck\(|kickoff_foo\()bigint`,
    "subject_id",
    "domain",
    "foo",
  ].join("|"),
  "g",
);

/** Fills the template in. */
export function processMigration(template: string, names: ProcessNames): string {
  const { schema, process, root, referenced, channel, maxAttempts, installation } = names;
  const isPureSql = channel === "db_function";
  const applies: Readonly<Record<string, boolean>> = {
    channel: !isPureSql,
    db_function: isPureSql,
    references: referenced !== null,
  };
  const filled: Readonly<Record<string, string>> = {
    the_installation: installation,
    the_worker: `${installation}_worker`,
    the_engine: `${installation}_engine`,
    the_type: channel,
    referenced_table: referenced?.table ?? "",
    referenced_column: referenced?.column ?? "",
    millrace: installation,
    "RETURN 5": `RETURN ${maxAttempts}`,
    bigint: root.type,
    subject_id: root.name,
    domain: schema,
    foo: process,
  };
  return template
    .replaceAll(BLOCK, (_, name: string, body: string, otherwise: string | undefined) =>
      applies[name] === true ? body : (otherwise ?? ""),
    )
    .replaceAll(NAMES, (found) => filled[found] ?? found);
}
