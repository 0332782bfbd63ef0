/** Backends of workers and producers are ended from another session. */
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../../test/support/postgres.ts";
import { between, seatOf } from "../scene.ts";
import type { Fault } from "../scene.ts";

export const terminate: Fault = {
  name: "terminate",
  store: "postgres",
  async strike({ url }, dice) {
    const operator = await connect(url);
    operator.on("error", () => {});
    let ended = 0;
    try {
      for (let left = between(dice, 2, 12); left > 0; left -= 1) {
        await sleep(between(dice, 0, 120));
        const { rows } = await operator.query<{ pid: number }>(
          `SELECT pid FROM pg_stat_activity
           WHERE application_name LIKE 'millrace%' AND datname = current_database() ORDER BY pid`,
        );
        const victim = rows[seatOf(dice, rows)];
        if (victim === undefined) continue;
        await operator.query("SELECT pg_terminate_backend($1)", [victim.pid]);
        ended += 1;
      }
    } finally {
      await operator.end().catch(() => {});
    }
    return ended;
  },
};
