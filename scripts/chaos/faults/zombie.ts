/** A worker is stopped for longer than its lease, and wakes: it believes that nothing happened. */
import { setTimeout as sleep } from "node:timers/promises";
import { between, seatOf } from "../scene.ts";
import type { Fault } from "../scene.ts";

export const zombie: Fault = {
  name: "zombie",
  store: "any",
  async strike({ fleet, leaseMs }, dice) {
    const victim = fleet.workers[seatOf(dice, fleet.workers)]!;
    await sleep(between(dice, 0, 200));
    victim.kill("SIGSTOP");
    await sleep(between(dice, 1.4, 2) * leaseMs);
    victim.kill("SIGCONT");
    return 1;
  },
};
