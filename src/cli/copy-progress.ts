/** Tells a person how far a copy has come: a line for each tenth of the rows. */
import type { Clock } from "../core/clock.ts";
import { formatDuration } from "../core/duration.ts";
import type { CopyNews } from "../copy/copy.ts";
import { COPIED_TABLES, type CopySource } from "../store/shared/copy-tables.ts";

const PARTS = 10;

/** What hears the news of a copy. */
export function progressLines(
  source: CopySource,
  clock: Pick<Clock, "monotonic">,
  say: (line: string) => void,
): (news: CopyNews) => void {
  let [total, before, done, told, ms] = [0, 0, 0, 0, 0];
  let heardAt = clock.monotonic();
  return (news) => {
    const now = clock.monotonic();
    // Only the time of copying tells how long the rest will take.
    if (news.kind === "copied") ms += now - heardAt;
    heardAt = now;
    switch (news.kind) {
      case "begun":
        total = COPIED_TABLES.reduce((sum, table) => sum + source.count(table), 0);
        before = news.rows;
        if (before > 0) say(`Going on: ${before} of ${total} rows are there.`);
        return;
      case "copied": {
        done += news.rows;
        const part = Math.min(Math.floor(((before + done) / total) * PARTS), PARTS);
        if (part <= told) return;
        told = part;
        const rate = Math.round(done / (ms / 1000));
        const restMs = (ms / done) * Math.max(0, total - before - done);
        const rows = `${before + done} of ${total} rows, ${rate} rows/s`;
        say(`${part * PARTS} %: ${rows}, ${formatDuration(restMs)} to go (${news.table})`);
        return;
      }
      case "mended":
        return;
      case "fenced": {
        const words = `${news.runs} runs went back to the queue`;
        say(`${source.place} takes no writes any more; ${words}.`);
        return;
      }
      case "comparing":
        say("Comparing both ends.");
    }
  };
}
