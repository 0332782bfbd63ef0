/** Prints the progress of a copy: one line for each tenth of the rows. */
import type { Clock } from "../core/clock.ts";
import { formatDuration } from "../core/duration.ts";
import type { CopyEvent } from "../copy/copy.ts";
import { COPIED_TABLES } from "../store/shared/copy/tables.ts";
import { type CopySource } from "../store/shared/copy/ends.ts";

const PARTS = 10;

/** Returns the listener for the events of a copy. */
export function progressLines(
  source: Pick<CopySource, "count" | "place">,
  clock: Pick<Clock, "monotonic">,
  say: (line: string) => void,
): (event: CopyEvent) => void {
  let [total, before, done, printed, ms] = [0, 0, 0, 0, 0];
  let lastAt = clock.monotonic();
  return (event) => {
    const now = clock.monotonic();
    // Only the time of copying counts for the remaining time.
    if (event.kind === "copied") ms += now - lastAt;
    lastAt = now;
    switch (event.kind) {
      case "started":
        before = event.rows;
        total = COPIED_TABLES.reduce((sum, table) => sum + source.count(table), 0);
        total = Math.max(total, before);
        if (before > 0) say(`Continuing: ${before} of ${total} rows are copied.`);
        return;
      case "copied": {
        done += event.rows;
        // Producers may add rows after the start.
        total = Math.max(total, before + done);
        const part = Math.floor(((before + done) / total) * PARTS);
        if (part <= printed) return;
        printed = part;
        const rate = Math.round(done / (ms / 1000));
        const restMs = (ms / done) * (total - before - done);
        const rows = `${before + done} of ${total} rows, ${rate} rows/s`;
        say(`${part * PARTS} %: ${rows}, ${formatDuration(restMs)} left (${event.table})`);
        return;
      }
      case "reconciled":
        return;
      case "writes-blocked": {
        const words = `${event.runs} runs were returned to the queue`;
        say(`${source.place} no longer accepts writes; ${words}.`);
        return;
      }
      case "comparing":
        say("Comparing source and target.");
    }
  };
}
