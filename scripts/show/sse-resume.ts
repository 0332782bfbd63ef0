/**
 * Live streams while their server is killed: `--changes` jobs are enqueued and run, and `millrace
 * server` gets SIGKILL and starts again `--kills` times. Clients connect again with Last-Event-ID.
 * What they got is compared with the feed of the store: no gap, no repeat, nothing out of order.
 *
 *     node --conditions=source scripts/show/sse-resume.ts [--store postgres] [--changes 1000]
 */
import { table } from "../lib/table.ts";
import { Places } from "./lib/databases.ts";
import { isSound } from "./lib/http/feed-check.ts";
import { resumeRound } from "./lib/http/resume.ts";
import { numbersAndStores } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";

const { stores, ...options } = numbersAndStores("sse-resume.ts", { changes: 1_000, kills: 2 });
const HEAD = ["store", "client", "events", "connections"];
const FINDINGS = ["missing", "repeated", "out of order", "unknown", "resets"];

await onStage(async () => {
  const rows: string[][] = [];
  let isAllSound = true;
  for (const kind of stores) {
    await using places = await Places.open(kind);
    const { clients, entries, kills, ms } = await resumeRound(places.next(), options);
    const seconds = (ms / 1_000).toFixed(1);
    console.log(
      `${kind}: ${options.changes} jobs, ${entries} entries, ${kills} kills, ${seconds} s`,
    );
    for (const client of clients) {
      const { filter, events, connections, resets, missing, repeated } = client;
      const found = [missing, repeated, client.outOfOrder, client.unknown, resets];
      rows.push([kind, filter, ...[events, connections, ...found].map(String)]);
      isAllSound &&= isSound(client) && resets === 0 && connections === kills + 1;
    }
  }
  for (const line of table([...HEAD, ...FINDINGS], rows)) console.log(line);
  return { sound: isAllSound };
});
