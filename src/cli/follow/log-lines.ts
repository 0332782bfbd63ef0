/** Reads and formats the log lines of a job. */
import type { Jobs } from "../../api/client.ts";
import type { LogView } from "../../api/logs.ts";

export type ShownLogLine = Pick<LogView, "level" | "message" | "fields">;

/** The maximum number of lines in one read. */
const PAGE = 1_000;
/** The maximum of reads in one call. A job may write as fast as its lines are read. */
const PAGES_MAX = 10;

/** The lines since the last read, and the number of lines that the store no longer had. */
export interface NewLines {
  readonly missed: number;
  readonly lines: readonly LogView[];
}

/** Reads the log of a job from its first line. */
export class LogReader {
  readonly #jobs: Pick<Jobs, "logs">;
  readonly #id: string;
  /** The number of the last line that was read; the first line has number 1. */
  #last = 0;

  constructor(jobs: Pick<Jobs, "logs">, id: string) {
    this.#jobs = jobs;
    this.#id = id;
  }

  async next(): Promise<NewLines> {
    const before = this.#last;
    const lines: LogView[] = [];
    let hasMore = true;
    for (let pages = 0; hasMore && pages < PAGES_MAX; pages += 1) {
      const page = await this.#jobs.logs(this.#id, { after: this.#last, limit: PAGE });
      lines.push(...page.lines);
      this.#last = page.lines.at(-1)?.line ?? this.#last;
      hasMore = page.next !== null;
    }
    return { missed: this.#last - before - lines.length, lines };
  }
}

/** The level, message and fields of a line, without a line break. */
export function shownLog({ level, message, fields }: ShownLogLine): string {
  const facts = Object.entries(fields ?? {}).map(([name, value]) => {
    return ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
  return `${level} ${message}${facts.join("")}`;
}

export function shownMissed(missed: number): string {
  return missed === 1 ? "1 log line was removed" : `${missed} log lines were removed`;
}
