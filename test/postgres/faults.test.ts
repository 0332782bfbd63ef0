/** Short forms of the fault campaigns, with real processes on a server that waits for its disk. */
import { describe, expect, test } from "vitest";
import { playCuts } from "../../scripts/show/lib/fleet/cuts.ts";
import { playFailover } from "../../scripts/show/lib/fleet/failover.ts";
import { playRestarts } from "../../scripts/show/lib/fleet/restarts.ts";
import { startPostgres } from "../support/postgres.ts";

describe("two workers and a producer on PostgreSQL", () => {
  test("lose nothing when the server crashes and backends are ended", async () => {
    await using server = await startPostgres();
    const figures = await playRestarts(server, { rounds: 2, terminations: 20, seed: 1 });
    expect(figures).toMatchObject({ findings: [], terminated: 20 });
    expect(figures.acked).toBeGreaterThan(0);
  });

  test("lose nothing when the server takes no writes for a while", async () => {
    await using server = await startPostgres();
    const figures = await playFailover(server, { rounds: 1, readOnlyMs: 2_500, seed: 1 });
    expect(figures).toMatchObject({ findings: [], refused: [] });
    expect(figures.acked).toBeGreaterThan(0);
    expect(figures.left).toBeGreaterThan(0);
  });

  test("lose and double nothing when connections are cut at a commit", async () => {
    await using server = await startPostgres();
    const figures = await playCuts(server, { cuts: 3, seed: 1 });
    expect(figures).toMatchObject({ findings: [], refused: [], successions: [] });
    for (const { before, after } of Object.values(figures.cuts)) {
      expect(Math.min(before, after)).toBeGreaterThanOrEqual(3);
    }
  });
});
