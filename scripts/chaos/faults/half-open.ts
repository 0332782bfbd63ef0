/**
 * Connections through which nothing passes any more, and neither side is told. Most are reset after
 * a while; now and then neither side ever hears of their end.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { between } from "../scene.ts";
import type { Fault } from "../scene.ts";

export const halfOpen: Fault = {
  name: "half-open",
  store: "postgres",
  async strike({ proxy }, dice) {
    await sleep(between(dice, 0, 300));
    const share = between(dice, 0.2, 1);
    const frozen = [...proxy.links].filter(() => dice.random() < share);
    for (const link of frozen) link.freeze();
    await sleep(between(dice, 300, 1_800));
    const isTold = dice.random() < 0.8;
    if (isTold) for (const link of frozen) link.cut("reset");
    return frozen.length;
  },
};
