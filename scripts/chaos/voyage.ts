/**
 * A voyage: one database and one fleet that lives through several rounds of faults under load. Then
 * no new work comes, what there is must come to its end, and everything that was seen is judged.
 */
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Dice } from "../../src/core/clock.ts";
import type { PostgresServer } from "../../test/support/postgres.ts";
import { seededDice } from "../../test/support/seeded-dice.ts";
import type { Ending } from "../show/lib/fleet/fleet.ts";
import type { Cancel, History } from "../show/lib/fleet/history.ts";
import { AppendLog, LogReader } from "../show/lib/fleet/ledger.ts";
import { resumed } from "../show/lib/fleet/load.ts";
import { inTrueTime } from "./clock.ts";
import { ailmentsOf } from "./doctor.ts";
import { openPostgresScene, openSqliteScene } from "./open-scene.ts";
import { strike } from "./scene.ts";
import type { Fault, Scene } from "./scene.ts";

/** Quiet load before the faults of a round. */
const CALM_MS_MAX = 200;
/** The share of rounds in which a second fault strikes beside the first. */
const COMPANY_SHARE = 0.25;
const DRAIN_MS_MAX = 60_000;
const STALE = /lease lost: result discarded/g;

export interface VoyageOptions {
  /** Null: SQLite. */
  readonly server: PostgresServer | null;
  readonly faults: readonly Fault[];
  readonly rounds: number;
  readonly seed: number;
  readonly tell: (line: string) => void;
}

/** One round, from outside. */
export interface Round {
  readonly fault: string;
  /** How often each fault has struck. */
  readonly struck: Readonly<Record<string, number>>;
  readonly from: number;
  readonly to: number;
  /** Ends that were refused because their lease was over. */
  readonly stale: number;
  /** From the end of the faults until every worker has ended new work; null: it has not. */
  readonly resumedMs: number | null;
}

export interface Voyage {
  readonly seed: number;
  readonly rounds: readonly Round[];
  readonly ending: Ending;
  readonly history: History;
  /** Calls of producers that ended with an error. */
  readonly refused: number;
  /** Where the raw logs are kept; null: nothing was found. */
  readonly kept: string | null;
}

export async function sail(options: VoyageOptions): Promise<Voyage> {
  const { server, rounds: count, seed, tell } = options;
  await using scene =
    server === null ? await openSqliteScene(seed) : await openPostgresScene(server, seed);
  const { fleet } = scene;
  const startedAt = Date.now();
  using log = new AppendLog(fleet.path("faults"));
  const plan = scheduleOf(options);
  const rounds: Round[] = [];
  for (const [index, faults] of plan.entries()) {
    const round = await playRound(scene, faults, seededDice(seed * 10_000 + index), tell);
    rounds.push(round);
    log.append(JSON.stringify(round));
    tell(`seed ${seed}, round ${index + 1} of ${count}: ${described(round)}`);
  }
  await Promise.all(scene.producers.map((producer) => fleet.stop(producer)));
  await fleet.drain(DRAIN_MS_MAX);
  const ailments = [...stuck(rounds), ...(await ailmentsOfStore(scene))];
  const cancels = new LogReader<Cancel>(fleet.path("cancels")).lines();
  let history: History = { acks: [], ledger: [], leaseMs: 0 };
  const ending = await fleet.finish((seen) => {
    history = inTrueTime({ ...seen, cancels, ailments }, startedAt);
    if (hasStoreJumped(scene, rounds)) history = timeless(history);
    return history;
  });
  const isKept = ending.findings.length > 0;
  if (isKept) keepFile(scene);
  const refused = new LogReader(fleet.path("refused")).lines().length;
  return { seed, rounds, ending, history, refused, kept: isKept ? fleet.folder : null };
}

/** Which faults strike in each round: every kind in turn, shuffled, now and then two at once. */
function scheduleOf({ faults, rounds, seed }: VoyageOptions): readonly (readonly Fault[])[] {
  const dice = seededDice(seed);
  let deck: Fault[] = [];
  return Array.from({ length: rounds }, () => {
    if (deck.length === 0) deck = shuffled(faults, dice);
    const first = deck.pop()!;
    const others = faults.filter((fault) => fault !== first);
    const second = others[Math.floor(dice.random() * others.length)];
    const isAlone = dice.random() >= COMPANY_SHARE || second === undefined;
    return isAlone ? [first] : [first, second];
  });
}

function shuffled<T>(items: readonly T[], dice: Dice): T[] {
  return items
    .map((item) => ({ item, rank: dice.random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

async function playRound(
  scene: Scene,
  faults: readonly Fault[],
  dice: Dice,
  tell: VoyageOptions["tell"],
): Promise<Round> {
  const from = Date.now();
  const staleBefore = staleEnds(scene);
  await sleep(dice.random() * CALM_MS_MAX);
  const seeds = faults.map(() => Math.floor(dice.random() * 2 ** 31));
  const struck = await Promise.all(
    faults.map(async (fault, index) => {
      const striking = strike(fault, scene, seededDice(seeds[index]!));
      // One that meets a server which is away does not strike.
      const times = await striking.catch((error: unknown) => {
        tell(`${fault.name} did not strike: ${String(error)}`);
        return 0;
      });
      return [fault.name, times] as const;
    }),
  );
  const resumedMs = await resumed(scene.fleet).catch(() => null);
  return {
    fault: faults[0]?.name ?? "",
    struck: Object.fromEntries(struck),
    from,
    to: Date.now(),
    stale: staleEnds(scene) - staleBefore,
    resumedMs,
  };
}

function staleEnds({ fleet }: Scene): number {
  return readFileSync(fleet.path("words"), "utf8").match(STALE)?.length ?? 0;
}

function described({ struck, from, to, resumedMs }: Round): string {
  const faults = Object.entries(struck).map(([name, times]) => `${name} × ${times}`);
  const resume = resumedMs === null ? "NOT RESUMED" : `resumed after ${Math.round(resumedMs)} ms`;
  return `${faults.join(" and ")}, ${resume}, ${((to - from) / 1000).toFixed(1)} s`;
}

function stuck(rounds: readonly Round[]): string[] {
  return rounds
    .filter(({ resumedMs }) => resumedMs === null)
    .map(({ struck }) => `work did not go on after ${Object.keys(struck).join(" and ")}`);
}

function ailmentsOfStore(scene: Scene): Promise<readonly string[]> {
  if (scene.store === "postgres") return ailmentsOf(scene.url, null);
  return ailmentsOf(`sqlite:${scene.file}`, scene.clock.env);
}

/** All processes and the file share the clock of their host. */
function hasStoreJumped({ store }: Scene, rounds: readonly Round[]): boolean {
  return store === "sqlite" && rounds.some(({ struck }) => (struck["clock"] ?? 0) > 0);
}

/** What is due goes by the store's clock. Where that has jumped, nothing counts as early. */
function timeless(seen: History): History {
  return { ...seen, acks: seen.acks.map((ack) => ({ ...ack, dueAt: Number.NEGATIVE_INFINITY })) };
}

/** The disk of the file goes with the scene. */
function keepFile(scene: Scene): void {
  if (scene.store === "postgres") return;
  for (const suffix of ["", "-wal"]) {
    const file = `${scene.file}${suffix}`;
    if (existsSync(file)) copyFileSync(file, join(scene.fleet.folder, `jobs.db${suffix}`));
  }
}
