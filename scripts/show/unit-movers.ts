/**
 * A hundred movers in four processes move units of one running job at the same time: their own, and
 * some that all of them move. After every round the totals are what the movers say they have done,
 * unit by unit, and a unit that many moved is where one of the last has put it (000-24).
 *
 *     node --conditions=source scripts/show/unit-movers.ts [--store sqlite] [--rounds 50]
 */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { JobId } from "../../src/core/job.ts";
import type { JobStore } from "../../src/store/store.ts";
import type { UnitRecord } from "../../src/store/types/notes.ts";
import { completed } from "../../test/support/factories.ts";
import { add, joinWorker, settleAll, takeOne } from "../../test/support/steps.ts";
import { table } from "../lib/table.ts";
import { asides } from "./lib/say-aside.ts";
import { CONTENDED, OWN_UNITS } from "./lib/pipelines/movers.ts";
import type { Moved, MoveOrder, MoverReport } from "./lib/pipelines/movers.ts";
import { numbersAndStores } from "./lib/options.ts";
import type { StoreKind } from "./lib/options.ts";
import { openStore, Places } from "./lib/databases.ts";
import { onStage } from "./lib/run-stages.ts";
import { wordOf } from "./lib/fleet/next-message.ts";

const options = numbersAndStores("unit-movers.ts", {
  rounds: 50,
  movers: 100,
  processes: 4,
  seed: 1,
});
const PROGRAM = fileURLToPath(new URL("lib/pipelines/movers.child.ts", import.meta.url));
const LEASE_MS = 3_600_000;
const VIOLATIONS_SHOWN = 10;
const STATES = ["planned", "running", "completed", "failed"] as const;
const NONE = { planned: 0, running: 0, completed: 0, failed: 0 };

interface Round {
  readonly moves: number;
  /** Contended units whose last moves overlapped, so that either may have won. */
  readonly races: number;
  readonly counts: Readonly<Record<(typeof STATES)[number], number>>;
  readonly violations: readonly string[];
}

await onStage(async () => {
  const rows: string[][] = [];
  const violations: string[] = [];
  for (const kind of options.stores) {
    const began = performance.now();
    const rounds = await playOn(kind);
    rows.push(rowOf(kind, rounds, (performance.now() - began) / 1000));
    violations.push(
      ...rounds.flatMap((round) => round.violations.map((text) => `${kind}: ${text}`)),
    );
  }
  const head = ["store", "rounds", "movers", "moves", "races", ...STATES, "wrong", "s"];
  for (const line of table(head, rows)) console.log(line);
  for (const text of violations.slice(0, VIOLATIONS_SHOWN)) console.log(text);
  return { sound: violations.length === 0 };
});

function rowOf(kind: StoreKind, rounds: readonly Round[], seconds: number): string[] {
  const sum = (of: (round: Round) => number): string =>
    String(rounds.reduce((total, round) => total + of(round), 0));
  return [
    kind,
    String(rounds.length),
    String(options.movers),
    sum(({ moves }) => moves),
    sum(({ races }) => races),
    ...STATES.map((state) => sum(({ counts }) => counts[state])),
    sum(({ violations }) => violations.length),
    seconds.toFixed(1),
  ];
}

async function playOn(kind: StoreKind): Promise<readonly Round[]> {
  await using places = await Places.open(kind);
  const url = places.next();
  const store = await openStore(url);
  const seats = await Promise.all(Array.from({ length: options.processes }, () => startSeat(url)));
  const tell = asides(kind, options.rounds);
  const rounds: Round[] = [];
  while (rounds.length < options.rounds) {
    rounds.push(await playRound(store, seats, rounds.length + 1));
    tell(rounds.length);
  }
  for (const seat of seats) seat.disconnect();
  await store.close();
  return rounds;
}

async function startSeat(url: string): Promise<ChildProcess> {
  const seat = fork(PROGRAM, [url], { serialization: "advanced" });
  await wordOf(seat);
  return seat;
}

/** One job, whose lease all processes share. */
async function playRound(
  store: JobStore,
  seats: readonly ChildProcess[],
  round: number,
): Promise<Round> {
  const worker = await joinWorker(store, { leaseMs: LEASE_MS });
  const [id] = await add(store, {});
  const batch = await takeOne(store, { worker });
  const { key, n } = batch.job;
  const reports = await Promise.all(
    seats.map((seat, index) =>
      ordered(seat, {
        round,
        lease: batch.lease,
        job: { key, n },
        movers: Array.from({ length: options.movers }, (_, mover) => mover).filter(
          (mover) => mover % seats.length === index,
        ),
        seed: options.seed * 1_000_000 + round * 1_000,
      }),
    ),
  );
  const judged = await judge(store, id, reports);
  await settleAll(store, batch, completed());
  await store.deregister(worker);
  return { ...judged, violations: judged.violations.map((text) => `round ${round}: ${text}`) };
}

async function ordered(seat: ChildProcess, order: MoveOrder): Promise<MoverReport> {
  const report = wordOf(seat);
  seat.send(order);
  return report;
}

async function judge(store: JobStore, id: JobId, reports: readonly MoverReport[]): Promise<Round> {
  const moves = reports.flatMap((report) => report.moves);
  const units = await store.units(id, {}, { limit: 1_000 });
  const shown = (await store.progress(id))?.units[0] ?? NONE;
  const byUnit = Map.groupBy(moves, ({ unit }) => unit);
  const found = new Map(units.map((unit) => [unit.unit, unit]));
  const last = new Map([...byUnit].map(([unit, group]) => [unit, lastOf(group)]));
  const counts = { ...NONE };
  const violations = reports.flatMap(({ refused }) => refused);
  for (const [unit, candidates] of last) {
    const record = found.get(unit);
    const winner = candidates.find((move) => record !== undefined && isAt(record, move));
    if (winner === undefined) violations.push(`${unit} is not where one of its last movers put it`);
    else counts[winner.state] += 1;
  }
  const wanted = options.movers * OWN_UNITS + CONTENDED.length;
  if (units.length !== wanted) violations.push(`${units.length} units instead of ${wanted}`);
  for (const state of STATES) {
    if (shown[state] === counts[state]) continue;
    violations.push(`${shown[state]} ${state} instead of the movers' ${counts[state]}`);
  }
  const races = CONTENDED.filter((unit) => (last.get(unit)?.length ?? 0) > 1).length;
  return { moves: moves.length, races, counts, violations };
}

/** Moves after which no other of the same unit was asked for: any of them may be the last. */
function lastOf(moves: readonly Moved[]): readonly Moved[] {
  const lastAsked = moves.reduce((most, { askedAt }) => (askedAt > most ? askedAt : most), 0n);
  return moves.filter(({ answeredAt }) => answeredAt >= lastAsked);
}

function isAt({ state, result, fault }: UnitRecord, move: Moved): boolean {
  if (state !== move.state) return false;
  if (state === "completed") return result === JSON.stringify(move.mark);
  return state === "planned" || state === "running" || fault?.message === move.mark;
}
