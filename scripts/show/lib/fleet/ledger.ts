/** Append-only logs outside the system: what handlers did, and what producers were promised. */
import { closeSync, existsSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import type { Ack } from "./history.ts";

/**
 * One line of the ledger. `quit`: the handler left early because it was told to stop. `fail`: it
 * ended with an error, as it was told.
 */
export interface LedgerLine {
  readonly job: string;
  readonly fence: number;
  readonly pid: number;
  readonly attempt: number;
  readonly what: "start" | "end" | "fail" | "quit";
  readonly at: number;
  /** A line about a unit of the run, and not about the run. */
  readonly unit?: string;
  /** The lock that the run or the unit works under. */
  readonly lock?: string;
}

/**
 * Appends whole lines. O_APPEND and one write per line: lines of several processes never mix, and
 * what was written stays written when the process is killed next.
 */
export class AppendLog implements Disposable {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, "a");
  }

  append(line: string): void {
    writeSync(this.#file, `${line}\n`);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

/** Reads a log of JSON lines that is still being written: each look reads only what is new. */
export class LogReader<Line> {
  readonly #path: string;
  readonly #lines: Line[] = [];
  #bytesRead = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** All lines so far, in the order in which they were written. */
  lines(): readonly Line[] {
    if (!existsSync(this.#path)) return this.#lines;
    const fresh = bytesFrom(this.#path, this.#bytesRead);
    const whole = fresh.subarray(0, fresh.lastIndexOf("\n") + 1);
    this.#bytesRead += whole.length;
    for (const line of linesIn(whole.toString())) this.#lines.push(JSON.parse(line));
    return this.#lines;
  }
}

export function readLedger(path: string): readonly LedgerLine[] {
  return linesIn(readFileSync(path, "utf8")).map((line): LedgerLine => JSON.parse(line));
}

/** What producers were promised, one per line: an id, or more as JSON. */
export function readAcks(path: string): readonly Ack[] {
  return linesIn(readFileSync(path, "utf8")).map((line) => {
    return line.startsWith("{") ? JSON.parse(line) : { id: line };
  });
}

function linesIn(text: string): string[] {
  return text.split("\n").filter(Boolean);
}

function bytesFrom(path: string, offset: number): Buffer {
  const file = openSync(path, "r");
  const chunks: Buffer[] = [];
  for (let position = offset; ;) {
    const chunk = Buffer.alloc(65_536);
    const length = readSync(file, chunk, 0, chunk.length, position);
    if (length === 0) break;
    chunks.push(chunk.subarray(0, length));
    position += length;
  }
  closeSync(file);
  return Buffer.concat(chunks);
}
