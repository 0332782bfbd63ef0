/**
 * A job of three phases with units and children is killed (kill -9) before and after every verb of
 * the store that it passes, and taken over by a second process. No phase result, unit or child is
 * lost, none is doubled, and nothing is done twice unless a dead worker was taken over.
 *
 *     node --conditions=source scripts/show/pipeline-kills.ts [--store sqlite] [--every 1]
 *
 * A first run without kills tells which verbs it passes and how often; one that takes over tells
 * which are passed only then, and there it is the second process that is killed. `--every` strikes
 * only each n-th of these points, beginning at `--from`, and then does not ask that none is left
 * out. `--passes`: how often a verb is struck that is not about the run, such as one that polls,
 * spread over its calls. Each blow has a database of its own, and `--parallel` of them fall at
 * once: most is waiting.
 */
import { FAILPOINTS } from "../../src/store/failpoints.ts";
import { table } from "../lib/table.ts";
import { asides } from "./lib/say-aside.ts";
import { numbersAndStores } from "./lib/options.ts";
import type { StoreKind } from "./lib/options.ts";
import { Places } from "./lib/databases.ts";
import { onStage } from "./lib/run-stages.ts";
import { recordedCalls, strike } from "./lib/pipelines/strikes.ts";
import type { Blow, Struck } from "./lib/pipelines/strikes.ts";
import { UNUSED } from "./lib/pipelines/unused-verbs.ts";

const options = numbersAndStores("pipeline-kills.ts", {
  every: 1,
  from: 0,
  passes: 2,
  lease: 300,
  parallel: 3,
});
/** What is said about the run itself: struck at every pass. */
const OF_THE_RUN: readonly string[] = [
  "enqueue",
  "startPrefetched",
  "record",
  "checkpoints",
  "acquireLocks",
  "settle",
];
const PASSES_MAX = 40;
const VIOLATIONS_SHOWN = 10;

await onStage(async () => {
  const verdicts: boolean[] = [];
  for (const store of options.stores) verdicts.push(await playOn(store));
  return { sound: verdicts.every(Boolean) };
});

async function playOn(kind: StoreKind): Promise<boolean> {
  await using places = await Places.open(kind);
  const began = performance.now();
  const undisturbed = await recordedCalls(places, options.lease, false);
  const takingOver = await recordedCalls(places, options.lease, true);
  const { every, from } = options;
  const blows = FAILPOINTS.flatMap((point) => blowsAt(point, undisturbed, takingOver)).filter(
    (_, index) => index >= from && (index - from) % Math.max(1, every) === 0,
  );
  const tell = asides(kind, blows.length);
  const struck = new Map<Blow, readonly Struck[]>();
  const left = blows.values();
  const hand = async (): Promise<void> => {
    for (const blow of left) {
      struck.set(blow, await strikeUntilKilled(places, blow));
      tell(struck.size);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, options.parallel) }, hand));
  const inOrder = blows.flatMap((blow) => struck.get(blow) ?? []);
  return report(kind, inOrder, (performance.now() - began) / 1000);
}

/**
 * The calls of a verb were counted in another process. How many of them share a batch is a matter
 * of timing, so a process may end before it makes that many. Then the next one dies earlier.
 */
async function strikeUntilKilled(places: Places, blow: Blow): Promise<readonly Struck[]> {
  const struck = await strike(places, options.lease, blow);
  if (struck.end === "killed" || blow.pass === 1) return [struck];
  const earlier = { ...blow, pass: Math.ceil(blow.pass / 2) };
  return [struck, ...(await strikeUntilKilled(places, earlier))];
}

function blowsAt(
  point: string,
  undisturbed: ReadonlyMap<string, number>,
  takingOver: ReadonlyMap<string, number>,
): readonly Blow[] {
  const verb = verbOf(point);
  const first = undisturbed.get(verb) ?? 0;
  const isInTakeover = first === 0;
  const calls = isInTakeover ? (takingOver.get(verb) ?? 0) : first;
  const blows = Math.min(calls, OF_THE_RUN.includes(verb) ? PASSES_MAX : options.passes);
  return Array.from({ length: blows }, (_, index) => ({
    point,
    pass: 1 + Math.floor((index * calls) / blows),
    isInTakeover,
  }));
}

function report(kind: StoreKind, struck: readonly Struck[], seconds: number): boolean {
  const killed = struck.filter(({ end }) => end === "killed");
  console.log(`\n${kind}: ${killed.length} kills, ${seconds.toFixed(0)} s`);
  for (const line of tableOf(struck)) console.log(line);
  const reached = new Set(struck.map(({ blow }) => verbOf(blow.point)));
  const verbs = [...new Set(FAILPOINTS.map(verbOf))];
  const isWhole = options.every <= 1 && options.from === 0;
  const unreached = isWhole ? verbs.filter((verb) => !reached.has(verb)) : [];
  for (const verb of unreached)
    console.log(`not passed: ${verb}: ${UNUSED[verb] ?? "UNEXPLAINED"}`);
  const violations = [
    ...unreached
      .filter((verb) => UNUSED[verb] === undefined)
      .map((verb) => `${verb} not explained`),
    ...neverKilled(struck).map((point) => `no process was killed at ${point}`),
    ...struck.flatMap(({ blow, violations: found }) =>
      found.map((text) => `${blow.point}@${blow.pass}: ${text}`),
    ),
  ];
  const sum = (of: (each: Struck) => number): number => killed.reduce((n, each) => n + of(each), 0);
  console.log(
    `${sum(({ takeovers }) => takeovers)} takeovers from the dead, ` +
      `${sum(({ fromLiving }) => fromLiving)} from the living, ${violations.length} violations`,
  );
  for (const text of violations.slice(0, VIOLATIONS_SHOWN)) console.log(text);
  return violations.length === 0;
}

function neverKilled(struck: readonly Struck[]): readonly string[] {
  const points = Map.groupBy(struck, ({ blow }) => blow.point);
  return [...points].flatMap(([point, group]) =>
    group.some(({ end }) => end === "killed") ? [] : [point],
  );
}

function tableOf(struck: readonly Struck[]): string[] {
  const head = ["point", "killed", "missed", "taken over", "phases kept", "units kept", "wrong"];
  const points = Map.groupBy(struck, ({ blow }) => blow.point);
  const rows = [...points].map(([point, group]) => {
    const sum = (of: (each: Struck) => number): string =>
      String(group.reduce((total, each) => total + of(each), 0));
    const isInTakeover = group.some(({ blow }) => blow.isInTakeover);
    return [
      isInTakeover ? `${point} (of the second)` : point,
      sum(({ end }) => (end === "killed" ? 1 : 0)),
      sum(({ end }) => (end === "missed" ? 1 : 0)),
      sum(({ takeovers }) => takeovers),
      range(group.map(({ phasesKept }) => phasesKept)),
      range(group.map(({ unitsKept }) => unitsKept)),
      sum(({ violations }) => violations.length),
    ];
  });
  return table(head, rows);
}

function range(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? `${least}` : `${least}–${most}`;
}

function verbOf(point: string): string {
  return point.slice(point.indexOf(":") + 1);
}
