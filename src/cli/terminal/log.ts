/** The logger of commands. */
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../api/context.ts";
import { loggable } from "../../lib/loggable.ts";
import { plain, plainLines } from "../../lib/plain-text.ts";
import { jsonLine } from "./output.ts";
import type { Terminal } from "./terminal.ts";

/** Writes a readable line to a terminal, and one JSON object per line otherwise. */
export function terminalLogger(terminal: Terminal, clock: Pick<Clock, "now">): Logger {
  const at =
    (level: keyof Logger) =>
    (message: string, fields: object = {}): void => {
      const time = new Date(clock.now()).toISOString();
      const facts = loggable(fields, "stack");
      terminal.err(
        terminal.isWatched === true
          ? `${time.slice(11, 19)} ${level} ${plain(message)}${shownFacts(facts)}\n`
          : jsonLine({ time, level, msg: message, ...facts }),
      );
    };
  return { debug: () => {}, info: at("info"), warn: at("warn"), error: at("error") };
}

function shownFacts(facts: Readonly<Record<string, unknown>>): string {
  return Object.entries(facts)
    .map(([name, value]) => {
      // A stack keeps its line breaks, which make it readable.
      const text = plainLines(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
      return text.includes("\n") ? `\n  ${plain(name)}: ${text}` : ` ${plain(name)}=${text}`;
    })
    .join("");
}
