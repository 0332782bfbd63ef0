/** The server takes no writes for a while, as in a failover. */
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../../test/support/postgres.ts";
import { setReadOnly } from "../../show/lib/fleet/failover.ts";
import { until } from "../../show/lib/until.ts";
import { between } from "../scene.ts";
import type { Fault } from "../scene.ts";

const HEAL_MS_MAX = 30_000;

export const readOnly: Fault = {
  name: "read-only",
  store: "postgres",
  async strike({ url }, dice) {
    await sleep(between(dice, 0, 300));
    const hasStruck = await set(url, "on");
    await sleep(between(dice, 300, 1_500));
    // The server may be away, and may have been half told: it must take writes again in the end.
    await until("the server takes writes", HEAL_MS_MAX, () => set(url, "off"));
    return hasStruck ? 1 : 0;
  },
};

/** False when the server is away. */
async function set(url: string, state: "on" | "off"): Promise<boolean> {
  try {
    const operator = await connect(url);
    operator.on("error", () => {});
    await operator.query("SET default_transaction_read_only = off");
    await setReadOnly(operator, state);
    await operator.end();
    return true;
  } catch {
    return false;
  }
}
