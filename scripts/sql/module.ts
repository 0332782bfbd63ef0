/** Renders the generated modules of a store, with the types of rows and parameters. */
import {
  assembleMigrations,
  bindParameters,
  queryFiles,
  templateFiles,
  type Dialect,
} from "./files.ts";
import { describeQueries, type Column, type Shape } from "./headers.ts";
import { routineOf } from "./routines.ts";

/** What a query takes and gives when it is called as a routine. `gives` null: a count of rows. */
const ROUTINE = "{ readonly takes: string; readonly gives: string | null } | null";

export function renderQueries(dialect: Dialect): string {
  const { shapes, queries } = describeQueries(dialect, queryFiles(dialect));
  const timed = dialect === "postgres";
  const bound = queries.map((query) => ({
    ...query,
    ...bindParameters(query.text, dialect),
    routine: timed ? routineOf(query) : null,
  }));
  const returning = (kind: Shape["kind"]): string[] =>
    queries.flatMap(({ name, returns }) =>
      returns?.kind === kind ? [`  ${name}: ${returns.name ?? literal(returns)};`] : [],
    );
  return [
    header(dialect),
    ...(timed
      ? [
          'import type { JobId } from "../../../core/job.ts";',
          'import type { TimeoutClass } from "./statement-timeouts.ts";',
        ]
      : []),
    "",
    ...shapes.map((shape) =>
      shape.kind === "row"
        ? `export interface ${shape.name} ${literal(shape)}\n`
        : `export type ${shape.name} = ${literal(shape)};\n`,
    ),
    "/** The rows of each query that returns some. */",
    "export interface QueryRows {",
    ...returning("row"),
    "}",
    "",
    "/** The rows of queries that are read as arrays, in the order of the columns. */",
    "export interface QueryTuples {",
    ...returning("tuple"),
    "}",
    "",
    "/** The parameters of each named query, in the order in which they are bound. */",
    "export interface QueryParameters {",
    ...bound.map(({ name, parameters }) => `  ${name}: ${tuple(parameters)};`),
    "}",
    "",
    "export const queries: {",
    "  readonly [Name in keyof QueryParameters]: {",
    "    readonly text: string;",
    "    readonly parameters: QueryParameters[Name];",
    ...(timed ? ["    readonly timeout: TimeoutClass;", `    readonly routine: ${ROUTINE};`] : []),
    "  };",
    "} = {",
    ...bound.flatMap(({ name, text, parameters, timeout, routine }) => [
      `  ${name}: {`,
      `    text: ${JSON.stringify(text)},`,
      `    parameters: ${JSON.stringify(parameters)},`,
      ...(timed
        ? [
            `    timeout: ${JSON.stringify(timeout ?? "answer")},`,
            `    routine: ${JSON.stringify(routine)},`,
          ]
        : []),
      "  },",
    ]),
    "};",
    "",
  ].join("\n");
}

/** Apart from the queries: an open store needs no migrations. */
export function renderMigrations(dialect: Dialect): string {
  return [
    header(dialect),
    "export const migrations: readonly { version: number; name: string; sql: string }[] = [",
    ...assembleMigrations(dialect).map((migration) => `  ${JSON.stringify(migration)},`),
    "];",
    "",
  ].join("\n");
}

/** Files that commands fill in and hand to users. */
export function renderTemplates(): string {
  return [
    header("postgres"),
    "export const templates = {",
    ...templateFiles().map(({ path, text }) => {
      const name = path.replace(/^.*\/|\.sql$/g, "");
      return `  ${name}: ${JSON.stringify(text)},`;
    }),
    "} as const;",
    "",
  ].join("\n");
}

function header(dialect: Dialect): string {
  return `// Generated from sql/${dialect} by scripts/embed-sql.ts. Do not edit.`;
}

function literal({ kind, columns }: Shape): string {
  return kind === "row"
    ? `{ ${columns.map((column) => `readonly ${member(column)};`).join(" ")} }`
    : `readonly [${columns.map(member).join(", ")}]`;
}

function member({ name, script, isNullable }: Column): string {
  return `${name}: ${script}${isNullable ? " | null" : ""}`;
}

function tuple(parameters: readonly string[]): string {
  return `readonly [${parameters.map((name) => JSON.stringify(name)).join(", ")}]`;
}
