/** What the engine reports, as a command shows it. */
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../face/context.ts";
import { jsonLine, plain } from "./output.ts";
import type { Terminal } from "./terminal.ts";

type Level = "debug" | "info" | "warn" | "error";

/** A line for people where one is watching, a JSON object per line where a program collects. */
export function terminalLogger(terminal: Terminal, clock: Pick<Clock, "now">): Logger {
  const at =
    (level: Level) =>
    (message: string, fields: object = {}): void => {
      const time = new Date(clock.now()).toISOString();
      const facts = plainFields(fields);
      terminal.err(
        terminal.isWatched === true
          ? `${time.slice(11, 19)} ${level} ${plain(message)}${shownFacts(facts)}\n`
          : jsonLine({ time, level, msg: message, ...facts }),
      );
    };
  return { debug: () => {}, info: at("info"), warn: at("warn"), error: at("error") };
}

/** Errors have no enumerable fields; without this they would be shown as `{}`. */
function plainFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => [
      name,
      value instanceof Error ? (value.stack ?? value.message) : value,
    ]),
  );
}

function shownFacts(facts: Record<string, unknown>): string {
  return Object.entries(facts)
    .map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      // A stack keeps its lines: a person reads it.
      const lines = text?.split("\n").map(plain).join("\n") ?? "";
      return lines.includes("\n") ? `\n  ${name}: ${lines}` : ` ${name}=${lines}`;
    })
    .join("");
}
