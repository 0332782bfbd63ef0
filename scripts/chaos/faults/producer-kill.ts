/** kill -9 of producers, who are in the middle of a call nearly always. */
import { setTimeout as sleep } from "node:timers/promises";
import { between, seatOf } from "../scene.ts";
import type { Fault } from "../scene.ts";

export const producerKill: Fault = {
  name: "producer-kill",
  store: "any",
  async strike({ fleet, producers, startProducer }, dice) {
    const kills = 1 + seatOf(dice, producers);
    for (let count = 0; count < kills; count += 1) {
      await sleep(between(dice, 100, 500));
      const seat = seatOf(dice, producers);
      fleet.kill(producers[seat]!);
      await producers[seat]!.ended;
      producers[seat] = startProducer(seat);
    }
    return kills;
  },
};
