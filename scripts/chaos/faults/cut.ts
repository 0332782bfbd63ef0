/** Connections are cut right before a commit reaches the server, or right after it has. */
import { setTimeout as sleep } from "node:timers/promises";
import { Scissors } from "../../show/lib/fleet/cuts.ts";
import { between } from "../scene.ts";
import type { Fault } from "../scene.ts";

/** Of each kind of commit, on each side. */
const CUTS_MAX = 3;

export const cut: Fault = {
  name: "cut",
  store: "postgres",
  async strike({ fates }, dice) {
    const scissors = new Scissors(CUTS_MAX, dice);
    scissors.open();
    fates.of = (request) => scissors.fateOf(request);
    await sleep(between(dice, 300, 1_200));
    fates.of = null;
    return Object.values(scissors.cuts).reduce((sum, { before, after }) => sum + before + after, 0);
  },
};
