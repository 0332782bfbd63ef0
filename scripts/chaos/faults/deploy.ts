/** A worker is told to stop in the middle of its jobs, and a new one takes its place. */
import { setTimeout as sleep } from "node:timers/promises";
import { between, seatOf } from "../scene.ts";
import type { Fault } from "../scene.ts";

export const deploy: Fault = {
  name: "deploy",
  store: "any",
  async strike({ fleet }, dice) {
    await sleep(between(dice, 0, 300));
    const seat = seatOf(dice, fleet.workers);
    const old = fleet.workers[seat]!;
    fleet.workers[seat] = fleet.startWorker();
    await fleet.stop(old);
    return 1;
  },
};
