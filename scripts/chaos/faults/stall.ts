/** Handlers that block the event loop of their worker, some of them for longer than its lease. */
import { setTimeout as sleep } from "node:timers/promises";
import { between } from "../scene.ts";
import type { Fault } from "../scene.ts";

export const stall: Fault = {
  name: "stall",
  store: "any",
  async strike({ fleet, leaseMs }, dice) {
    const stalls = 1 + Math.floor(dice.random() * 2);
    const ms = between(dice, 0.4, 1.4) * leaseMs;
    const placed = await fleet.place(
      Array.from({ length: stalls }, () => ({ act: { kind: "spin", ms } }) as const),
      { keyed: true },
    );
    await sleep(ms);
    return placed.length;
  },
};
