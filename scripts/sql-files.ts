/** How a `.sql` file of named queries is read. Shared by the embed step and the tidy test. */

export type Dialect = "sqlite" | "postgres";

export interface NamedQuery {
  readonly file: string;
  readonly name: string;
  /** The statement with its comments. */
  readonly text: string;
  /** Set by `-- only: <dialect>`: the twin tree has no such query, for the reason that follows. */
  readonly only: string | null;
}

/** Splits a file at its `-- name:` lines. */
export function splitQueries(file: string, text: string): NamedQuery[] {
  return text
    .split(/^-- name: */m)
    .slice(1)
    .map((block) => {
      const [name = "", ...lines] = block.split("\n");
      const body = lines.join("\n").trim();
      const only = /^-- only: *(\w+)/m.exec(body);
      return { file, name: name.trim(), text: body, only: only?.[1] ?? null };
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
