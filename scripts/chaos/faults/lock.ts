/** A foreign process holds the write lock of the file, now and then for longer than a lease. */
import { setTimeout as sleep } from "node:timers/promises";
import { startChild } from "../../show/lib/fleet/children.ts";
import { between } from "../scene.ts";
import type { Fault } from "../scene.ts";

const HOLDER = new URL("../lock.child.ts", import.meta.url);

export const lock: Fault = {
  name: "lock",
  store: "sqlite",
  async strike({ fleet, file, leaseMs }, dice) {
    await sleep(between(dice, 0, 200));
    const settings = { path: file, ms: between(dice, 0.3, 2) * leaseMs };
    const holder = startChild({ program: HOLDER, settings, log: fleet.path("words") });
    return (await holder.ended) === 0 ? 1 : 0;
  },
};
