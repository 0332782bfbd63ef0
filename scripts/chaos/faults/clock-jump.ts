/**
 * The wall clock jumps by an hour while the steady clock goes on. On SQLite the clock of the host
 * is that of the store: it jumps for all, back for a moment or ahead for good. (What was put off
 * while it was ahead would wait for an hour after a way back.) On PostgreSQL it is that of one
 * process which jumps, either way, and comes back.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { between, seatOf } from "../scene.ts";
import type { Fault } from "../scene.ts";

export const clockJump: Fault = {
  name: "clock",
  store: "any",
  async strike(scene, dice) {
    await sleep(between(dice, 0, 300));
    const isAhead = dice.random() < 0.5;
    if (scene.store === "sqlite" && isAhead) {
      scene.clock.jump(1);
      await sleep(scene.leaseMs / 2);
      return 1;
    }
    const clock =
      scene.store === "sqlite" ? scene.clock : scene.clocks[seatOf(dice, scene.clocks)]!;
    clock.jump(isAhead ? 1 : -1);
    await sleep(between(dice, 0.2, 1.5) * scene.leaseMs);
    clock.jump(isAhead ? -1 : 1);
    return 2;
  },
};
