/** The default logger of the library: one JSON object per line, on stderr. */
import { loggable } from "./loggable.ts";
import { plainJson } from "./plain-text.ts";
import { soon } from "./system.ts";

const RANK: Readonly<Record<keyof PlainLogger, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export interface PlainLogger {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

/** Writes the lines of level `least` and above. Takes any fields and never throws. */
export function stderrLogger(least: keyof PlainLogger, now: () => number): PlainLogger {
  const at =
    (level: keyof PlainLogger) =>
    (message: string, fields: object = {}): void => {
      if (RANK[level] < RANK[least]) return;
      const time = new Date(now()).toISOString();
      const line = { time, level, msg: message, ...loggable(fields, "line") };
      writeLine(`${plainJson(JSON.stringify(line))}\n`);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

let linesUnderWay = 0;

/**
 * Drops a line that cannot be written. Without a listener, a stderr whose reader has gone would end
 * the process. Errors of lines that the application writes are left to the application.
 */
function writeLine(line: string): void {
  const { stderr } = process;
  if (linesUnderWay === 0) stderr.on("error", ignore);
  linesUnderWay += 1;
  // The stream emits the error after the callback.
  stderr.write(line, () => soon(lineDone));
}

function lineDone(): void {
  linesUnderWay -= 1;
  if (linesUnderWay === 0) process.stderr.off("error", ignore);
}

function ignore(): void {}

/** Wraps the user's logger, so that an error in it is ignored. */
export function sturdyLogger(logger: PlainLogger): PlainLogger {
  const at =
    (level: keyof PlainLogger) =>
    (message: string, fields?: object): void => {
      try {
        logger[level](message, fields);
      } catch {
        // An error of the logger cannot be logged, and must not stop the caller.
      }
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
