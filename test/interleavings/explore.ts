/**
 * Goes through all orders in which the statements of two verbs can reach the server: a walk over a
 * tree, where each leaf is one run from a fresh beginning.
 */
import { setTimeout } from "node:timers/promises";
import { inspect } from "node:util";
import type { PostgresServer } from "../support/postgres.ts";
import { openPostgres, type PostgresTestStore } from "../support/stores.ts";
import { violations } from "./invariants.ts";
import type { Pair } from "./pair.ts";
import { Side, type Rewrite } from "./side.ts";
import { Stops } from "./stops.ts";

/** `statements`: a turn is a statement. `rows`: it may also end before each row that is written. */
export type Grain = "statements" | "rows";

export interface Exploration {
  readonly interleavings: number;
  /** The most turns that each side had: the statements it sent, and its stops. */
  readonly turns: readonly [number, number];
  /** False: there are more, and only so many were gone through. */
  readonly isComplete: boolean;
  /** How often a side had to wait for a lock. */
  readonly waits: number;
  /** The ways in which the two answered. */
  readonly outcomes: ReadonlySet<string>;
  readonly violations: readonly string[];
}

interface ExploreOptions {
  readonly grain: Grain;
  readonly most: number;
  /** How often a verb that could go on may be interrupted. Default: without limit. */
  readonly interruptions?: number;
  readonly rewrite?: Rewrite;
}

const POLL_MS = 1;

export async function explore(
  server: PostgresServer,
  pair: Pair,
  { grain, most, interruptions = Infinity, rewrite = (text) => text }: ExploreOptions,
): Promise<Exploration> {
  await using db = await openPostgres(server, "shared");
  await using left = await Side.open(db, server.url, 1, rewrite);
  await using right = await Side.open(db, server.url, 2, rewrite);
  await using stops = grain === "rows" ? await Stops.make(db) : null;
  const stage = { db, sides: [left, right] as const, stops };

  const outcomes = new Set<string>();
  const turns: [number, number] = [0, 0];
  let [interleavings, waits] = [0, 0];
  let path: number[] | null = [];
  const findings = (wrong: readonly string[]): Exploration => {
    const isComplete = path === null;
    return { interleavings, turns, isComplete, waits, outcomes, violations: wrong };
  };
  while (path !== null && interleavings < most) {
    const run = await runOnce(stage, pair, path);
    interleavings += 1;
    waits += run.waits;
    outcomes.add(run.outcome);
    for (const side of [0, 1] as const) turns[side] = Math.max(turns[side], turnsOf(run, side));
    if (run.violations.length > 0) return findings([...run.violations, run.outcome, ...run.story]);
    path = nextPath(run.turns, interruptions);
  }
  return findings([]);
}

function turnsOf({ turns }: Run, side: number): number {
  return turns.filter((turn) => turn.side === side).length;
}

interface Stage {
  readonly db: PostgresTestStore;
  readonly sides: readonly [Side, Side];
  readonly stops: Stops | null;
}

/** Whose turn it was. */
interface Turn {
  readonly side: number;
  /** `free`: the other could not have had it. `kept`: it could, and has not yet had it. */
  readonly kind: "free" | "kept" | "given";
}

interface Run {
  readonly turns: readonly Turn[];
  readonly waits: number;
  readonly outcome: string;
  readonly violations: readonly string[];
  readonly story: readonly string[];
}

/** The last turn that was kept, and may be given away, is given to the other side. */
function nextPath(turns: readonly Turn[], interruptions: number): number[] | null {
  const last = turns.findLastIndex(({ kind }, index) => {
    const given = turns.slice(0, index).filter((turn) => turn.kind === "given").length;
    return kind === "kept" && given < interruptions;
  });
  if (last === -1) return null;
  return [...turns.slice(0, last).map(({ side }) => side), 1 - turns[last]!.side];
}

async function runOnce(stage: Stage, pair: Pair, path: readonly number[]): Promise<Run> {
  const { db, sides, stops } = stage;
  await clear(db);
  await db.clock.advance(1_000);
  const scene = await pair.prepare(db);
  await stops?.reset();
  const answered: ("left" | "right")[] = [];
  const verbs = [
    sides[0].begin((store) => told(pair.left(store, scene))).finally(() => answered.push("left")),
    sides[1].begin((store) => told(pair.right(store, scene))).finally(() => answered.push("right")),
  ] as const;
  const { turns, waits, story } = await takeTurns(stage, path);
  const [left, right] = [await verbs[0], await verbs[1]];
  const outcomeOf = { ...scene, db, left, right, first: answered[0]! };
  const wrong = [...(await violations(db)), ...(await pair.judge(outcomeOf))];
  const outcome = [left, right].map((answer) => inWords(answer)).join(" | ");
  return { turns, waits, outcome, violations: wrong, story };
}

/** What differs from run to run only because each has jobs of its own is left out. */
function inWords(answer: unknown): string {
  return inspect(answer, { breakLength: Infinity, depth: 4 })
    .replaceAll(/'[0-9A-Z]{26}'/g, "id")
    .replaceAll(/'[0-9a-f]{32}'/g, "secret")
    .replaceAll(/\d{2,}/g, "#")
    .replaceAll(/(number|key): \d+/g, "$1: #");
}

/** An error is an answer too. */
async function told<Answer>(verb: Promise<Answer>): Promise<Answer | string> {
  return verb.catch((error: unknown) => String(error));
}

/** Everything but names and settings goes: the stores remember those. */
async function clear({ pool, schema }: PostgresTestStore): Promise<void> {
  const { rows } = await pool.query<{ tablename: string }>(
    `SELECT tablename FROM pg_tables WHERE schemaname = $1
     AND tablename NOT IN ('meta', 'interned_name', 'feed_head')`,
    [schema],
  );
  const deletes = rows.map(({ tablename }) => `DELETE FROM "${schema}"."${tablename}"`).join(";");
  // Without triggers: those of the audit refuse to delete its entries.
  await pool.query(`BEGIN; SET LOCAL session_replication_role = replica; ${deletes}; COMMIT`);
}

/** Gives turns along the path, and beyond its end to each side until it is done. */
async function takeTurns(
  stage: Stage,
  path: readonly number[],
): Promise<{ turns: Turn[]; waits: number; story: string[] }> {
  const { sides, stops } = stage;
  const turns: Turn[] = [];
  const story: string[] = [];
  let waits = 0;
  for (;;) {
    const ready = await comeToRest(stage);
    if (ready.every(({ kind }) => kind === "done")) return { turns, waits, story };
    waits += ready.filter(({ kind }) => kind === "waits").length;
    const turn = nextTurn(ready, turns.at(-1)?.side ?? 0, path[turns.length]);
    // Both wait: the server finds out about the circle, or a patience ends.
    if (turn === null) continue;
    turns.push(turn);
    const { side } = turn;
    const at = ready[side];
    if (at?.kind === "stop") await stops?.open(side + 1, at.stop);
    else sides[side]?.step();
    story.push(`${side + 1}: ${at?.kind === "stop" ? `row ${at.stop}` : lastOf(sides[side])}`);
  }
}

/** The side of the last turn keeps it, unless the path says otherwise or it cannot move. */
function nextTurn(
  ready: readonly Standing[],
  last: number,
  wanted: number | undefined,
): Turn | null {
  const other = 1 - last;
  if (!isAble(ready[last])) return isAble(ready[other]) ? { side: other, kind: "free" } : null;
  if (!isAble(ready[other])) return { side: last, kind: "free" };
  return wanted === other ? { side: other, kind: "given" } : { side: last, kind: "kept" };
}

function lastOf(side: Side | undefined): string {
  return side?.log.at(-1)?.replaceAll(/\s+/g, " ").slice(0, 160) ?? "";
}

/** Where a side stands. */
type Standing =
  | { readonly kind: "done" | "gate" | "waits" | "moves" }
  | { readonly kind: "stop"; readonly stop: number };

function isAble(standing: Standing | undefined): boolean {
  return standing?.kind === "gate" || standing?.kind === "stop";
}

/** Looks until no side moves by itself any more. */
async function comeToRest({ db, sides }: Stage): Promise<readonly Standing[]> {
  for (;;) {
    const pids = sides.flatMap((side) => side.pids);
    const locks = pids.length === 0 ? [] : await missingLocks(db, pids);
    const all = sides.map((side) => standingOf(side, locks));
    if (all.every(({ kind }) => kind !== "moves")) return all;
    await setTimeout(POLL_MS);
  }
}

interface MissingLock {
  readonly pid: number;
  readonly stop: number | null;
}

async function missingLocks(
  { pool }: PostgresTestStore,
  pids: readonly number[],
): Promise<readonly MissingLock[]> {
  const { rows } = await pool.query<MissingLock>(
    `SELECT pid, CASE WHEN locktype = 'advisory' THEN objid::integer END AS stop
     FROM pg_locks WHERE NOT granted AND pid = ANY ($1)`,
    [pids],
  );
  return rows;
}

function standingOf(side: Side, locks: readonly MissingLock[]): Standing {
  const { status, pids } = side;
  if (status === "done" || status === "gate") return { kind: status };
  if (status === "between") return { kind: "moves" };
  const lock = locks.find(({ pid }) => pids.includes(pid));
  if (lock === undefined) return { kind: "moves" };
  return lock.stop === null ? { kind: "waits" } : { kind: "stop", stop: lock.stop };
}
