/** Reads the address of a database. */
import { MillraceError } from "../core/errors.ts";

export interface SqliteAddress {
  readonly kind: "sqlite";
  /** A file, or `:memory:`. */
  readonly path: string;
}

const EXAMPLE = "sqlite:./millrace.db";

/** Tells which database a URL names, or refuses it and says what to write instead. */
export function parseDatabaseUrl(url: string): SqliteAddress {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) throw refusal(url, suggestionFor(url));
  if (scheme === "postgres" || scheme === "postgresql") {
    throw refusal(url, `this build has no PostgreSQL store yet; use ${EXAMPLE}`);
  }
  if (scheme !== "sqlite") throw refusal(url, `a database URL looks like ${EXAMPLE}`);

  const path = url.slice("sqlite:".length).replace(/^\/\/(?=\/)/, "");
  if (path === "") throw refusal(url, `name a file, for example ${EXAMPLE}`);
  if (path.startsWith("//")) throw refusal(url, `did you mean sqlite:./${path.slice(2)}?`);
  if (path.includes("?")) throw refusal(url, "a SQLite URL takes no options after “?”");
  return { kind: "sqlite", path };
}

function suggestionFor(url: string): string {
  const path = url.trim();
  if (path === "") return `name a database, for example ${EXAMPLE}`;
  const isPath = /^[./~]/.test(path) || path.includes("/");
  return `did you mean sqlite:${isPath ? path : `./${path}`}?`;
}

function refusal(url: string, advice: string): MillraceError {
  return new MillraceError("OPTION_INVALID", `“${withoutPassword(url)}”: ${advice}`);
}

/** Error messages end up in logs. */
function withoutPassword(url: string): string {
  return url.replace(/(\/\/[^/@:]*):[^@]*@/, "$1:…@");
}
