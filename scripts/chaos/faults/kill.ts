/** kill -9 of workers; each has a successor at once. */
import { setTimeout as sleep } from "node:timers/promises";
import { between, seatOf } from "../scene.ts";
import type { Fault } from "../scene.ts";

export const kill: Fault = {
  name: "kill",
  store: "any",
  async strike({ fleet }, dice) {
    const kills = 1 + seatOf(dice, fleet.workers);
    for (let count = 0; count < kills; count += 1) {
      await sleep(between(dice, 0, 400));
      const seat = seatOf(dice, fleet.workers);
      fleet.kill(fleet.workers[seat]!);
      fleet.workers[seat] = fleet.startWorker();
    }
    return kills;
  },
};
