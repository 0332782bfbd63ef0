/** Reads `sql/<dialect>`: the named queries, and the migrations with the files they include. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type Dialect = "sqlite" | "postgres";

export interface NamedQuery {
  readonly file: string;
  readonly name: string;
  /** The statement with its comments. */
  readonly text: string;
}

export interface SqlFile {
  /** Relative to `sql/<dialect>`. */
  readonly path: string;
  readonly text: string;
}

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

const SQL = join(import.meta.dirname, "../../sql");
/** A line of a migration that stands for other files, in the order of their names. */
const INCLUDE = /^-- include: (\w+)\/\*\.sql\n/gm;

/** The files of queries. */
export function queryFiles(dialect: Dialect): SqlFile[] {
  return readFolder(dialect, "queries");
}

/** The files that commands fill in and hand to users. PostgreSQL alone has business functions. */
export function templateFiles(): SqlFile[] {
  return readFolder("postgres", "templates");
}

/** Splits a file at its `-- name:` lines. */
export function splitQueries(file: string, text: string): NamedQuery[] {
  return text
    .split(/^-- name: */m)
    .slice(1)
    .map((block) => {
      const [name = "", ...lines] = block.split("\n");
      return { file, name: name.trim(), text: lines.join("\n").trim() };
    });
}

/** The migrations, with the text of each file passed through `change`. */
export function assembleMigrations(
  dialect: Dialect,
  change: (file: SqlFile) => string = ({ text }) => text,
): Migration[] {
  const include = (_: string, folder: string): string =>
    readFolder(dialect, folder).map(change).join("\n");
  return readFolder(dialect, "migrations").map((file) => {
    const name = file.path.replace(/^.*\/|\.sql$/g, "");
    return {
      version: Number(name.slice(0, 4)),
      name,
      sql: change(file).replaceAll(INCLUDE, include),
    };
  });
}

/** Replaces `:name` by the dialect's positional form and drops comments. */
export function bindParameters(
  text: string,
  dialect: Dialect,
): { text: string; parameters: string[] } {
  const parameters: string[] = [];
  const bare = text
    .replace(/--.*$/gm, "")
    .replace(/'(?:[^']|'')*'|(?<![:\w]):([a-z_]+)/g, (match, name: string | undefined) => {
      if (name === undefined) return match;
      if (!parameters.includes(name)) parameters.push(name);
      const position = parameters.indexOf(name) + 1;
      return dialect === "sqlite" ? `?${position}` : `$${position}`;
    })
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .join("\n")
    .replace(/;$/, "");
  return { text: bare, parameters };
}

function readFolder(dialect: Dialect, folder: string): SqlFile[] {
  return readdirSync(join(SQL, dialect, folder))
    .filter((file) => file.endsWith(".sql"))
    .toSorted()
    .map((file) => ({
      path: `${folder}/${file}`,
      text: readFileSync(join(SQL, dialect, folder, file), "utf8"),
    }));
}
