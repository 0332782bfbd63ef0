/**
 * A supervised process with three channel tasks is killed (kill -9) before and after every verb of
 * the store that it passes, and around the calls of the provider and of the handlers. A second
 * process takes over. Exactly one supervisor is alive at any time; each attempt is called at least
 * once, and twice only if a process died in it; no fact is recorded without its call; the facts and
 * the ledger agree with what the provider has seen.
 *
 *     node --conditions=source scripts/show/channel-kills.ts [--store sqlite] [--rounds 200]
 *
 * Each round kills at the next moment, from the first on when there are more rounds than moments;
 * `--from` begins at a later one. Each has a database of its own, and `--parallel` of them run at
 * once: most is waiting.
 */
import { FAILPOINTS } from "../../src/store/failpoints.ts";
import { table } from "../lib/table.ts";
import { callsOf, killAt, placesToDie, type Killed, type Moment } from "./lib/channels/kills.ts";
import { Places } from "./lib/databases.ts";
import { numbersAndStores, type StoreKind } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";
import { asides } from "./lib/say-aside.ts";

const options = numbersAndStores("channel-kills.ts", {
  rounds: 200,
  from: 0,
  passes: 12,
  lease: 300,
  parallel: 3,
});
/** What a worker says about its runs: killed at up to `--passes` of its calls, others at two. */
const OF_THE_RUN: readonly string[] = [
  "claim",
  "startPrefetched",
  "record",
  "checkpoints",
  "settle",
  "get",
];
const VIOLATIONS_SHOWN = 10;

await onStage(async () => {
  const verdicts: boolean[] = [];
  for (const store of options.stores) verdicts.push(await playOn(store));
  return { sound: verdicts.every(Boolean) };
});

async function playOn(kind: StoreKind): Promise<boolean> {
  await using places = await Places.open(kind);
  const began = performance.now();
  const all = momentsOf(await callsOf(places, options.lease));
  const rounds = Array.from(
    { length: options.rounds },
    (_, index) => all[(index + options.from) % all.length],
  ).filter((moment) => moment !== undefined);
  const tell = asides(kind, rounds.length);
  const killed: Killed[] = [];
  const left = rounds.values();
  const hand = async (): Promise<void> => {
    for (const moment of left) {
      killed.push(await killAt(places, options.lease, moment));
      tell(killed.length);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, options.parallel) }, hand));
  return report(kind, all.length, killed, (performance.now() - began) / 1000);
}

/** The places of the application first, then each verb, before and after. */
function momentsOf(calls: ReadonlyMap<string, number>): readonly Moment[] {
  const verbs = FAILPOINTS.flatMap((name) => {
    const verb = name.slice(name.indexOf(":") + 1);
    const made = calls.get(verb) ?? 0;
    const struck = Math.min(made, OF_THE_RUN.includes(verb) ? options.passes : 2);
    return Array.from({ length: struck }, (_, index) => ({
      kind: "verb" as const,
      name,
      pass: 1 + Math.floor((index * made) / struck),
    }));
  });
  return [...placesToDie(), ...verbs];
}

function report(kind: StoreKind, all: number, killed: readonly Killed[], seconds: number): boolean {
  const dead = killed.filter(({ isKilled }) => isKilled);
  const struck = `${dead.length} kills at ${killed.length} of ${all} moments`;
  console.log(`\n${kind}: ${struck}, ${seconds.toFixed(0)} s`);
  const head = ["moment", "killed", "missed", "calls", "facts", "wrong"];
  const groups = Map.groupBy(killed, ({ moment }) => moment.name);
  const rows = [...groups].map(([name, group]) => {
    const sum = (of: (each: Killed) => number): string =>
      String(group.reduce((total, each) => total + of(each), 0));
    return [
      name,
      sum(({ isKilled }) => Number(isKilled)),
      sum(({ isKilled }) => Number(!isKilled)),
      sum(({ calls }) => calls),
      sum(({ facts }) => facts),
      sum(({ violations }) => violations.length),
    ];
  });
  for (const line of table(head, rows)) console.log(line);
  const violations = killed.flatMap(({ moment, violations: found }) =>
    found.map((text) => `${moment.name}@${moment.pass}: ${text}`),
  );
  console.log(`${violations.length} violations`);
  for (const text of violations.slice(0, VIOLATIONS_SHOWN)) console.log(text);
  return violations.length === 0 && dead.length > 0;
}
