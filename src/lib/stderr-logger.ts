/** Where the library reports when nobody gave it a logger: one JSON object per line, on stderr. */

type Level = "debug" | "info" | "warn" | "error";

const RANK: Readonly<Record<Level, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export interface PlainLogger {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

/** Writes what is at least as grave as `least`. */
export function stderrLogger(least: Level, now: () => number): PlainLogger {
  const at =
    (level: Level) =>
    (message: string, fields: object = {}): void => {
      if (RANK[level] < RANK[least]) return;
      const line = { time: new Date(now()).toISOString(), level, msg: message, ...plain(fields) };
      process.stderr.write(`${JSON.stringify(line)}\n`);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Errors have no enumerable fields; without this they would be shown as `{}`. */
function plain(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      value instanceof Error ? `${value.name}: ${value.message}` : value,
    ]),
  );
}
