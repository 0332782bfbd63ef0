/**
 * A process with many movers of units, each of which speaks to the store by itself. Takes the
 * address of the store; a {@link MoveOrder} by message begins a round, and a {@link MoverReport} is
 * the answer.
 */
import { isDeepStrictEqual } from "node:util";
import type { JobStore } from "../../../../src/store/store.ts";
import type { UnitMove } from "../../../../src/store/types/notes.ts";
import { seededDice } from "../../../../test/support/seeded-dice.ts";
import { CONTENDED, OWN_UNITS, ownUnit, PHASE } from "./movers.ts";
import type { Moved, MoveOrder, MoverReport, UnitState } from "./movers.ts";
import { openStore } from "../databases.ts";

const [url = ""] = process.argv.slice(2);
const STATES: readonly UnitState[] = ["planned", "running", "completed", "failed"];

const store = await openStore(url);
process.on("message", (order: MoveOrder) => {
  void playRound(store, order).then((report) => process.send?.(report));
});
process.once("disconnect", () => process.exit(0));
process.send?.("ready");

async function playRound(to: JobStore, order: MoveOrder): Promise<MoverReport> {
  const reports = await Promise.all(order.movers.map((mover) => move(to, order, mover)));
  return {
    moves: reports.flatMap(({ moves }) => moves),
    refused: reports.flatMap(({ refused }) => refused),
  };
}

/** Its own units begin, most of them end; in between it moves the units that every mover moves. */
async function move(to: JobStore, order: MoveOrder, mover: number): Promise<MoverReport> {
  const dice = seededDice(order.seed + mover);
  const pick = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(dice.random() * items.length)]!;
  const own = Array.from({ length: OWN_UNITS }, (_, index) => ownUnit(mover, index));
  const wanted: readonly (readonly [unit: string, state: UnitState])[] = [
    ...own.map((unit) => [unit, "running"] as const),
    ...CONTENDED.map((unit) => [unit, pick(STATES)] as const),
    ...own.map((unit) => [unit, pick(STATES)] as const),
    ...CONTENDED.map((unit) => [unit, pick(STATES)] as const),
  ];
  const moves: Moved[] = [];
  const refused: string[] = [];
  for (const [index, [unit, state]] of wanted.entries()) {
    const mark = `${order.round}.${mover}.${index}`;
    const askedAt = process.hrtime.bigint();
    const answer = await to
      .record([{ lease: order.lease, ...order.job, units: [moveOf(unit, state, mark)] }])
      .catch((error: unknown) => [String(error)]);
    const answeredAt = process.hrtime.bigint();
    if (isDeepStrictEqual(answer, ["recorded"])) {
      moves.push({ mover, unit, state, mark, askedAt, answeredAt });
    } else refused.push(`${unit}: ${JSON.stringify(answer)}`);
  }
  return { moves, refused };
}

function moveOf(unit: string, state: UnitState, mark: string): UnitMove {
  switch (state) {
    case "planned":
    case "running":
      return { phase: PHASE, unit, to: { state } };
    case "completed":
      return { phase: PHASE, unit, to: { state, result: JSON.stringify(mark) } };
    case "failed": {
      const fault = { class: "retryable", name: "Error", message: mark } as const;
      return { phase: PHASE, unit, to: { state, fault } };
    }
  }
}
