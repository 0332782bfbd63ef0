/** Connections that are cut right before, and right after, a write is committed. */
import { setTimeout as sleep } from "node:timers/promises";
import { queries } from "../../../../src/store/postgres/database/queries.gen.ts";
import { inSchema } from "../../../../src/store/postgres/database/statements.ts";
import type { PostgresServer } from "../../../../test/support/postgres.ts";
import { seededDice } from "../../../../test/support/seeded-dice.ts";
import { Fleet } from "./fleet.ts";
import type { Ending, Order } from "./fleet.ts";
import { openProxy } from "./proxy.ts";
import type { Fate, Link, Request } from "./proxy.ts";
import { waiting } from "./task.ts";

const WORKERS = 2;
const PRODUCERS = 4;
const REST_MS = 15;
const CALL_ORDERS = 2;
/** A claim that was cut is made anew after so long. */
const POLL_MS = 100;
/** The share of commits that are cut, as long as cuts are left. */
const CUT_SHARE = 0.5;
const CUTTING_MS_MAX = 240_000;
const ENDS = [...Array<"well">(8).fill("well"), "parent", "failure"] as const;

/** What is cut: a verb that is one statement, or the COMMIT of one that is a transaction. */
export const COMMITS = [
  "enqueue",
  "enqueue with keys",
  "claim",
  "settle",
  "settle otherwise",
] as const;
export type Commit = (typeof COMMITS)[number];
type Side = "before" | "after";

export interface CutFigures extends Ending {
  readonly cuts: Readonly<Record<Commit, Readonly<Record<Side, number>>>>;
}

/** Cuts each kind of commit so often on each side while orders keep coming. */
export async function playCuts(
  server: PostgresServer,
  { cuts, seed }: { readonly cuts: number; readonly seed: number },
): Promise<CutFigures> {
  const dice = seededDice(seed);
  const scissors = new Scissors(cuts, dice);
  await using proxy = await openProxy({
    url: server.url,
    fateOf: (request) => scissors.fateOf(request),
  });
  await using fleet = await Fleet.open({
    name: "cuts",
    url: proxy.url,
    workers: WORKERS,
    work: { lanes: { general: 10 }, poll: POLL_MS },
  });
  scissors.open();
  const endsAt = performance.now() + CUTTING_MS_MAX;
  const isOver = (): boolean => scissors.areDone || performance.now() > endsAt;
  await Promise.all(
    Array.from({ length: PRODUCERS }, (_, seat) => produce(fleet, seat, dice, isOver)),
  );
  await fleet.drain();
  return { ...(await fleet.finish()), cuts: scissors.cuts };
}

type Dice = ReturnType<typeof seededDice>;

async function produce(
  fleet: Fleet,
  seat: number,
  dice: Dice,
  isOver: () => boolean,
): Promise<void> {
  const keyed = seat % 2 === 1;
  for (let call = 0; !isOver(); call += 1) {
    const orders = Array.from({ length: CALL_ORDERS }, (_, place): Order => {
      const end = ENDS[Math.floor(dice.random() * ENDS.length)] ?? "well";
      return { name: `${seat}.${call}.${place}`, end, act: waiting(0) };
    });
    await fleet.place(orders, { keyed });
    await sleep(REST_MS);
  }
}

const SINGLE: ReadonlyMap<string, Commit> = new Map([
  [textOf("enqueue_alike"), "enqueue"],
  [textOf("enqueue"), "enqueue"],
  [textOf("claim"), "claim"],
  [textOf("settle_done"), "settle"],
]);
/** Statements by which a transaction is known. */
const WITHIN: ReadonlyMap<string, Commit> = new Map([
  [textOf("find_bodies"), "enqueue with keys"],
  [textOf("lock_leases"), "settle otherwise"],
]);

function textOf(name: keyof typeof queries): string {
  return inSchema(queries[name].text, "millrace");
}

/** Decides which commits are cut, and counts. */
export class Scissors {
  readonly cuts: Record<Commit, Record<Side, number>>;
  readonly #wanted: number;
  readonly #dice: Dice;
  /** Transactions under way, and what they are known for. */
  readonly #transactions = new WeakMap<Link, Commit | null>();
  #isOpen = false;

  constructor(wanted: number, dice: Dice) {
    this.#wanted = wanted;
    this.#dice = dice;
    const none = (): Record<Side, number> => ({ before: 0, after: 0 });
    this.cuts = {
      enqueue: none(),
      "enqueue with keys": none(),
      claim: none(),
      settle: none(),
      "settle otherwise": none(),
    };
  }

  open(): void {
    this.#isOpen = true;
  }

  get areDone(): boolean {
    return Object.values(this.cuts).every((sides) =>
      Object.values(sides).every((count) => count >= this.#wanted),
    );
  }

  fateOf(request: Request): Fate {
    const commit = this.#commitOf(request);
    if (commit === null || !this.#isOpen || this.#dice.random() > CUT_SHARE) {
      return { kind: "pass" };
    }
    const side = this.#dice.random() < 0.5 ? "before" : "after";
    const sides = this.cuts[commit];
    if (sides[side] >= this.#wanted) return { kind: "pass" };
    const manner = this.#dice.random() < 0.5 ? "end" : "reset";
    if (side === "before") {
      sides.before += 1;
      return { kind: "cut before", manner };
    }
    const isWorth = (rows: number): boolean => {
      // A claim that found nothing has nothing to lose: its one row says so.
      if (commit === "claim" && rows < 2) return false;
      sides.after += 1;
      return true;
    };
    return { kind: "cut after", manner, isWorth };
  }

  /** What this request would commit, if anything that is counted. */
  #commitOf({ link, sql }: Request): Commit | null {
    const begun = this.#transactions.get(link);
    if (begun === undefined) {
      if (sql.startsWith("BEGIN")) this.#transactions.set(link, null);
      return SINGLE.get(sql) ?? null;
    }
    if (sql === "COMMIT" || sql === "ROLLBACK") {
      this.#transactions.delete(link);
      return sql === "COMMIT" ? begun : null;
    }
    // The first statement says it: a settlement may enqueue children.
    if (begun === null) this.#transactions.set(link, WITHIN.get(sql) ?? null);
    return null;
  }
}
