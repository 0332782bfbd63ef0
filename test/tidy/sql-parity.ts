import { basename } from "node:path";
import { bindParameters, splitQueries } from "../../scripts/sql/files.ts";
import type { Dialect } from "../../scripts/sql/files.ts";
import type { Finding, SourceFile } from "./rule.ts";

interface Query {
  readonly path: string;
  readonly line: number;
  readonly file: string;
  readonly name: string;
  readonly parameters: readonly string[];
  /** The line `-- only: …` as it stands, if there is one. */
  readonly only: string | null;
}

/** The dialects that have queries. With one alone, there is nothing to compare. */
export function dialectsOf(files: readonly SourceFile[]): Dialect[] {
  const all: readonly Dialect[] = ["postgres", "sqlite"];
  return all.filter((dialect) => queriesOf(files, dialect).length > 0);
}

/**
 * Both dialects have the same queries with the same parameters in the same files. A file whose head
 * says `-- apart:` and why has queries of its own, and so has its twin.
 */
export function sqlParity(files: readonly SourceFile[]): Finding[] {
  const sqlite = queriesOf(files, "sqlite");
  const postgres = queriesOf(files, "postgres");
  const apart = filesApart(files);
  const isCompared = ({ file }: Query): boolean => !apart.has(file);
  const [ours, theirs] = [sqlite.filter(isCompared), postgres.filter(isCompared)];
  return [
    ...[...sqlite, ...postgres].flatMap(unreasoned),
    ...repeated(sqlite),
    ...repeated(postgres),
    ...(dialectsOf(files).length === 2
      ? [...unmatched(ours, theirs, "postgres"), ...unmatched(theirs, ours, "sqlite")]
      : []),
  ];
}

/** The names of files that say why they are not compared. */
function filesApart(files: readonly SourceFile[]): ReadonlySet<string> {
  return new Set(
    files
      .filter(({ path, text }) => path.startsWith("sql/") && /^-- apart: \w+\W+\w+/.test(text))
      .map(({ path }) => basename(path)),
  );
}

function queriesOf(files: readonly SourceFile[], dialect: Dialect): Query[] {
  const folder = `sql/${dialect}/queries/`;
  return files
    .filter(({ path }) => path.startsWith(folder) && path.endsWith(".sql"))
    .flatMap(({ path, text }) =>
      splitQueries(path, text).map((query, index) => ({
        path,
        line: linesOfNames(text)[index] ?? 1,
        file: basename(path),
        name: query.name,
        parameters: bindParameters(query.text, dialect).parameters.toSorted(),
        only: /^-- only:.*$/m.exec(query.text)?.[0] ?? null,
      })),
    );
}

function linesOfNames(text: string): number[] {
  return text
    .split("\n")
    .flatMap((line, index) => (line.startsWith("-- name:") ? [index + 1] : []));
}

/** A query that stands alone says for which dialect, and why the other has none. */
function unreasoned({ path, line, only, name }: Query): Finding[] {
  if (only === null) return [];
  const dialect = path.split("/")[1];
  if (new RegExp(`^-- only: ${dialect}\\W+\\w+`).test(only)) return [];
  return [{ path, line, message: `${name}: write “-- only: ${dialect}” and the reason after it` }];
}

function repeated(queries: readonly Query[]): Finding[] {
  return queries
    .filter((query, index) => queries.findIndex(({ name }) => name === query.name) < index)
    .map(({ path, line, name }) => ({ path, line, message: `${name} has been defined before` }));
}

function unmatched(queries: readonly Query[], others: readonly Query[], other: Dialect): Finding[] {
  return queries
    .filter(({ only }) => only === null)
    .flatMap((query) => {
      const { path, line, name } = query;
      const twin = others.find((each) => each.name === name && each.file === query.file);
      if (twin === undefined) {
        return [
          { path, line, message: `${name} is missing from sql/${other}/queries/${query.file}` },
        ];
      }
      if (twin.parameters.join() === query.parameters.join()) return [];
      const theirs = twin.parameters.join(", ");
      return [{ path, line, message: `${name} has other parameters in ${other}: ${theirs}` }];
    });
}
