/** The server crashes, is away for a moment, and recovers. */
import { setTimeout as sleep } from "node:timers/promises";
import { between } from "../scene.ts";
import type { Fault } from "../scene.ts";

const DOWN_MS_MAX = 1_500;

export const crash: Fault = {
  name: "crash",
  store: "postgres",
  async strike({ server }, dice) {
    await sleep(between(dice, 0, 300));
    await server.stop("immediate");
    await sleep(between(dice, 0, DOWN_MS_MAX));
    await server.start();
    return 1;
  },
};
