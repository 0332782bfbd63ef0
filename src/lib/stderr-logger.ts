/** Where the library reports when nobody gave it a logger: one JSON object per line, on stderr. */
import { loggable } from "./loggable.ts";
import { plainJson } from "./plain-text.ts";

type Level = "debug" | "info" | "warn" | "error";

const RANK: Readonly<Record<Level, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export interface PlainLogger {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

/** Writes what is at least as grave as `least`. Takes any fields, and never throws. */
export function stderrLogger(least: Level, now: () => number): PlainLogger {
  const at =
    (level: Level) =>
    (message: string, fields: object = {}): void => {
      if (RANK[level] < RANK[least]) return;
      const time = new Date(now()).toISOString();
      const line = { time, level, msg: message, ...loggable(fields, "line") };
      process.stderr.write(`${plainJson(JSON.stringify(line))}\n`);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** A logger of somebody else's that may throw, made into one that does not. */
export function sturdyLogger(logger: PlainLogger): PlainLogger {
  const at =
    (level: Level) =>
    (message: string, fields?: object): void => {
      try {
        logger[level](message, fields);
      } catch {
        // There is nobody left to tell; what was being reported on goes on.
      }
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
