/**
 * Two transactions write events and commit in the reverse order of their numbers, round after
 * round, while readers of the feed go on: the one with the larger number is committed and read
 * before the other is committed. The feed misses none, doubles none and keeps the order per job.
 *
 *     node --conditions=source scripts/show/late-commits.ts [--store postgres] [--rounds 500]
 *
 * A cursor over the numbers themselves would have missed the first of every such pair. A SQLite
 * file has one writer, so there the second transaction must be refused until the first is over.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openMillrace } from "millrace";
import type { Millrace } from "millrace";
import { table } from "../lib/table.ts";
import { asides } from "./lib/say-aside.ts";
import { startChild } from "./lib/fleet/children.ts";
import { followFeed, judgeReader, listenAll } from "./lib/feed/feed-readers.ts";
import type { Reading } from "./lib/feed/feed-readers.ts";
import { pairsOnPostgres, pairsOnSqlite } from "./lib/feed/late-commits.ts";
import type { LateSettings, Round } from "./lib/feed/late-commits.ts";
import { numbersAndStores } from "./lib/options.ts";
import type { StoreKind } from "./lib/options.ts";
import { openStore, Places } from "./lib/databases.ts";
import { onStage } from "./lib/run-stages.ts";

const options = numbersAndStores("late-commits.ts", { rounds: 500 });
const PROGRAM = new URL("lib/feed/late-commits.child.ts", import.meta.url);
const LAST = "job:completed";
/** How long the last events may take; what has not come by then is missed. */
const END_MS_MAX = 30_000;
const LOOK_MS = 20;

await onStage(async () => {
  const rows: string[][] = [];
  const verdicts: boolean[] = [];
  for (const kind of options.stores) {
    const { rounds, readings } = await playOn(kind);
    rows.push(...readings.map(([reader, reading]) => rowOf(kind, rounds, reader, reading)));
    verdicts.push(isSound(kind, rounds), ...readings.map(([, reading]) => isFaultless(reading)));
  }
  const head = [
    "store",
    "rounds",
    "reversed",
    "refused",
    "reader",
    "missed",
    "doubled",
    "disordered",
  ];
  for (const line of table(head, rows)) console.log(line);
  return { sound: verdicts.every(Boolean) };
});

type Readings = readonly (readonly [reader: string, reading: Reading])[];

async function playOn(
  kind: StoreKind,
): Promise<{ readonly rounds: readonly Round[]; readonly readings: Readings }> {
  await using places = await Places.open(kind);
  const url = places.next();
  const mill = await openMillrace(url);
  const store = await openStore(url);
  const settings: LateSettings = { url };
  const log = join(places.folder, "words.txt");
  const worker = startChild({ program: PROGRAM, settings, log });
  await worker.ready;
  const cursor = await followFeed(store);
  const listener = listenAll(mill);
  const rounds = await playRounds(kind, url, mill, (id) => cursor.told.has(id));
  const ids = rounds.flatMap((round) => round.ids);
  const isRead = (): boolean =>
    [cursor, listener].every(({ told }) => ids.every((id) => told.get(id)?.includes(LAST)));
  const deadline = performance.now() + END_MS_MAX;
  while (!isRead() && performance.now() < deadline) await sleep(LOOK_MS);
  worker.kill("SIGTERM");
  await worker.ended;
  await Promise.all([cursor.stop(), listener.stop()]);
  await Promise.all([store.close(), mill.close()]);
  const readings: Readings = [
    ["a cursor", judgeReader(cursor, ids, true)],
    ["mill.on", judgeReader(listener, ids, false)],
  ];
  return { rounds, readings };
}

async function playRounds(
  kind: StoreKind,
  url: string,
  mill: Millrace,
  hasRead: (id: string) => boolean,
): Promise<readonly Round[]> {
  await using pairs = await (kind === "postgres" ? pairsOnPostgres(url) : pairsOnSqlite(url));
  const tell = asides(kind, options.rounds);
  const rounds: Round[] = [];
  while (rounds.length < options.rounds) {
    rounds.push(await pairs.play(mill, hasRead));
    tell(rounds.length);
  }
  return rounds;
}

function rowOf(kind: StoreKind, rounds: readonly Round[], reader: string, reading: Reading) {
  return [
    kind,
    String(rounds.length),
    String(rounds.filter(({ isReversed }) => isReversed).length),
    String(rounds.filter(({ refusal }) => refusal !== null).length),
    reader,
    String(reading.missed),
    String(reading.doubled),
    String(reading.disordered),
  ];
}

/** Every round was what it should be: reversed, or impossible where there is one writer. */
function isSound(kind: StoreKind, rounds: readonly Round[]): boolean {
  return rounds.every(({ isReversed, refusal }) =>
    kind === "postgres" ? isReversed : refusal !== null && /locked|busy/.test(refusal),
  );
}

function isFaultless({ missed, doubled, disordered }: Reading): boolean {
  return missed + doubled + disordered === 0;
}
