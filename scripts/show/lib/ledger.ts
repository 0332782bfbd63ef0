/** Append-only logs outside the system: what handlers did, and what producers were promised. */
import { closeSync, existsSync, openSync, readFileSync, readSync, writeSync } from "node:fs";

/** One line of the ledger. `quit`: the handler left early because it was told to stop. */
export interface LedgerLine {
  readonly job: string;
  readonly fence: number;
  readonly pid: number;
  readonly attempt: number;
  readonly what: "start" | "end" | "quit";
  readonly at: number;
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

/** Reads a ledger that is still being written: each look reads only what is new. */
export class LedgerReader {
  readonly #path: string;
  readonly #lines: LedgerLine[] = [];
  #bytesRead = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** All lines so far, in the order in which they were written. */
  lines(): readonly LedgerLine[] {
    if (!existsSync(this.#path)) return this.#lines;
    const fresh = bytesFrom(this.#path, this.#bytesRead);
    const whole = fresh.subarray(0, fresh.lastIndexOf("\n") + 1);
    this.#bytesRead += whole.length;
    this.#lines.push(...parseLedger(whole.toString()));
    return this.#lines;
  }
}

export function readLedger(path: string): readonly LedgerLine[] {
  return parseLedger(readFileSync(path, "utf8"));
}

/** The ids that producers were promised, one per line. */
export function readAcks(path: string): readonly string[] {
  return readFileSync(path, "utf8").split("\n").filter(Boolean);
}

function parseLedger(text: string): LedgerLine[] {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line): LedgerLine => JSON.parse(line));
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
