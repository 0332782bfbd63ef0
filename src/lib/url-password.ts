/**
 * Shows URLs without their secrets. Messages and logs show a URL through these functions only. They
 * take any text, because a refused URL is shown, too: what looks like a password is hidden.
 */

/** The hint for a URL whose password is not escaped. */
export const ESCAPE_PASSWORD =
  "the URL has an @ after the host: write / ? # and @ in a password as %2F %3F %23 and %40";

const HIDDEN = "…";
/** Parameters whose values are shown. Any other parameter may be a secret. */
const SHOWN_PARAMETERS: ReadonlySet<string> = new Set([
  "application_name",
  "connect_timeout",
  "schema",
  "ssl",
  "sslmode",
  "target_session_attrs",
]);
/** A scheme with its colon and slashes; a resolved path has a single slash. */
const SCHEME = /^[a-z][a-z0-9+.-]*:(?=[/\\])[/\\]*/i;
const SQLITE = /^sqlite:/i;
const PATH = /^[.~]|^\/(?!\/)|^[a-z]:\\/i;
/** The settings of a connection string such as `host=db password=secret`. */
const SETTING = /\b(\w*(?:pass|pwd|secret|token|key)\w*\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&;]+)/gi;
/** Characters that a URL in a sentence may have. */
const URL_IN_TEXT = /\b[a-z][a-z0-9+.-]*:[/\\]{1,3}[^\s“”"'<>]+/gi;

/** True when the part after the host of a URL may be the rest of a password. */
export function hasUnescapedPassword(url: string): boolean {
  const { pathname, search, hash } = new URL(url);
  return `${pathname}${search}${hash}`.includes("@");
}

/** The URL of a database without its password and other secrets. */
export function shownUrl(text: string): string {
  const [scheme = ""] = (SQLITE.exec(text) ?? SCHEME.exec(text)) || [];
  const rest = text.slice(scheme.length);
  // A path may contain an @ and a colon; only its parameters are hidden.
  const isPath = SQLITE.test(scheme) ? !/^\/\/[^/]/.test(rest) : scheme === "" && PATH.test(rest);
  const shown = isPath ? rest : withoutUserPassword(rest);
  return `${scheme}${withoutParameters(shown)}`.replaceAll(SETTING, `$1${HIDDEN}`);
}

/** A text with each URL in it shown without its secrets. */
export function withShownUrls(text: string): string {
  return text.replaceAll(URL_IN_TEXT, (url) => shownUrl(url));
}

/** The same object, which logs and JSON show as `text`. Its properties stay as they are. */
export function shownAs<Secret extends object>(secret: Secret, text: string): Secret {
  const show = { value: () => text };
  return Object.defineProperties(secret, {
    [Symbol.for("nodejs.util.inspect.custom")]: show,
    toJSON: show,
  });
}

/** `user:password@host` without the password. Encoded separators count, too. */
function withoutUserPassword(rest: string): string {
  const at = Math.max(rest.lastIndexOf("@"), rest.toLowerCase().lastIndexOf("%40"));
  if (at < 0) return withoutWrongPort(rest);
  const colon = /:|%3A/i.exec(rest.slice(0, at));
  if (colon === null) return rest;
  return `${rest.slice(0, colon.index)}:${HIDDEN}${rest.slice(at).replace(/^%40/, "@")}`;
}

/** `user:password/…`, where the host is missing: a port that is no number may be a password. */
function withoutWrongPort(rest: string): string {
  const [authority = ""] = /^[^/?#\\]*/.exec(rest) ?? [];
  if (/^(\[[^\]]*\]|[^:]*)(:\d*)?(,[^:]*(:\d*)?)*$/.test(authority)) return rest;
  const colon = authority.indexOf(":");
  return `${rest.slice(0, colon)}:${HIDDEN}${rest.slice(authority.length)}`;
}

function withoutParameters(text: string): string {
  const start = text.search(/[?#]/);
  if (start < 0) return text;
  const [query = "", ...fragments] = text.slice(start).split("#");
  const parameters = query
    .slice(1)
    .split("&")
    .map((parameter) => {
      const [name = ""] = parameter.split("=");
      if (name === parameter || SHOWN_PARAMETERS.has(name.toLowerCase())) return parameter;
      return `${name}=${HIDDEN}`;
    });
  const shown = query === "" ? "" : `?${parameters.join("&")}`;
  return `${text.slice(0, start)}${shown}${fragments.length === 0 ? "" : `#${HIDDEN}`}`;
}
