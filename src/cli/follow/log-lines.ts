/** What handlers have logged, as it is read and shown. */
import type { Jobs } from "../../api/client.ts";
import type { LogView } from "../../api/logs.ts";

export type LogLine = Pick<LogView, "level" | "message" | "fields">;

/** Most lines to ask for at once. */
const PAGE = 1_000;

/** Lines since the last time, and how many of those between were not kept. */
export interface NewLines {
  readonly missed: number;
  readonly lines: readonly LogView[];
}

/** Reads the log of a job from its beginning, and then on. */
export class LogReader {
  readonly #jobs: Pick<Jobs, "logs">;
  readonly #id: string;
  /** The last line that was read: they are counted from 1. */
  #last = 0;

  constructor(jobs: Pick<Jobs, "logs">, id: string) {
    this.#jobs = jobs;
    this.#id = id;
  }

  async next(): Promise<NewLines> {
    const before = this.#last;
    const lines: LogView[] = [];
    let hasMore = true;
    while (hasMore) {
      const page = await this.#jobs.logs(this.#id, { after: this.#last, limit: PAGE });
      lines.push(...page.lines);
      this.#last = page.lines.at(-1)?.line ?? this.#last;
      hasMore = page.next !== null;
    }
    return { missed: this.#last - before - lines.length, lines };
  }
}

/** Level, message and fields, without a line's end. */
export function shownLog({ level, message, fields }: LogLine): string {
  const facts = Object.entries(fields ?? {}).map(([name, value]) => {
    return ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
  return `${level} ${message}${facts.join("")}`;
}

export function shownMissed(missed: number): string {
  return missed === 1 ? "1 log line was not kept" : `${missed} log lines were not kept`;
}
