/** Parses database URLs. */
import { MillraceError } from "../core/errors.ts";
import { hasUnescapedPassword, ESCAPE_PASSWORD, shownUrl } from "../lib/url-password.ts";

export type DatabaseAddress = SqliteDatabase | PostgresDatabase;

interface SqliteDatabase {
  readonly kind: "sqlite";
  /** A file, or `:memory:`. */
  readonly path: string;
}

interface PostgresDatabase {
  readonly kind: "postgres";
  /** In the form that the driver takes. May contain a password. */
  readonly url: string;
  /** From `?schema=`; undefined: the default schema. */
  readonly schema: string | undefined;
}

const EXAMPLE = "sqlite:./millrace.db";
const POSTGRES_EXAMPLE = "postgres://user@host/database";

/** Throws OPTION_INVALID with a suggestion if the URL is not valid. */
export function parseDatabaseUrl(url: string): DatabaseAddress {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) throw refusal(url, suggestionFor(url));
  if (scheme === "postgres" || scheme === "postgresql") return postgresAddress(url);
  if (scheme !== "sqlite") {
    throw refusal(url, `a database URL looks like ${EXAMPLE} or ${POSTGRES_EXAMPLE}`);
  }
  const path = url.slice("sqlite:".length).replace(/^\/\/(?=\/)/, "");
  if (path === "") throw refusal(url, `name a file, for example ${EXAMPLE}`);
  if (path.startsWith("//"))
    throw refusal(url, `did you mean sqlite:./${shownUrl(path.slice(2))}?`);
  if (path.includes("?")) throw refusal(url, "a SQLite URL takes no options after “?”");
  return { kind: "sqlite", path };
}

/** Removes `schema` from the URL, because the driver does not know this parameter. */
function postgresAddress(text: string): PostgresDatabase {
  const isWhole = /^[a-z]+:\/\/./i.test(text) && URL.canParse(text);
  if (!isWhole) throw refusal(text, `it should look like ${POSTGRES_EXAMPLE}`);
  const url = new URL(text);
  if (hasUnescapedPassword(text)) throw refusal(text, ESCAPE_PASSWORD);
  const schema = url.searchParams.get("schema") ?? undefined;
  url.searchParams.delete("schema");
  return { kind: "postgres", url: url.href, schema };
}

function suggestionFor(url: string): string {
  const path = url.trim();
  if (shownUrl(path) !== path) return `it should look like ${POSTGRES_EXAMPLE}`;
  if (path === "") return `name a database, for example ${EXAMPLE}`;
  const isPath = /^[./~]/.test(path) || path.includes("/");
  return `did you mean sqlite:${isPath ? path : `./${path}`}?`;
}

function refusal(url: string, advice: string): MillraceError {
  return new MillraceError("OPTION_INVALID", `“${shownUrl(url)}”: ${advice}`);
}
