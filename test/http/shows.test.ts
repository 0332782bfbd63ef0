/** Small samples of the shows about HTTP; `scripts/show` has them in full, on both stores. */
import { describe, expect, test } from "vitest";
import { compare, isSound } from "../../scripts/show/lib/http/feed-check.ts";
import { idempotencyRace } from "../../scripts/show/lib/http/race.ts";
import { resumeRound } from "../../scripts/show/lib/http/resume.ts";
import { temporaryFolder } from "../cli/programs.ts";

describe("streams across kills of the server", () => {
  test("have no gap and no repeat", async () => {
    using folder = temporaryFolder();

    const report = await resumeRound(`sqlite:${folder.path}/jobs.db`, { changes: 60, kills: 1 });

    expect(report.clients).toHaveLength(3);
    for (const client of report.clients) {
      expect(client).toMatchObject({ missing: 0, repeated: 0, outOfOrder: 0, unknown: 0 });
      expect(client).toMatchObject({ resets: 0, connections: 2 });
      expect(client.events).toBeGreaterThan(60);
    }
  });

  test.each([
    ["a gap", ["1.0.1", "3.0.1"]],
    ["a repeat", ["1.0.1", "2.0.1", "2.0.1", "3.0.1"]],
    ["a wrong order", ["1.0.1", "3.0.1", "2.0.1"]],
    ["an unknown event", ["1.0.1", "2.0.1", "3.0.1", "4.0.1"]],
  ])("are compared by a check that finds %s", (_, ids) => {
    const wanted = ["1.0", "2.0", "3.0"].map((place) => `${place} job:enqueued a`);
    const received = ids.map((id) => ({ id, name: "job:enqueued", job: "a" }));

    expect(isSound(compare(wanted, received))).toBe(false);
  });
});

test("concurrent requests with one Idempotency-Key make one job", async () => {
  using folder = temporaryFolder();

  const report = await idempotencyRace(`sqlite:${folder.path}/jobs.db`, {
    rounds: 3,
    requests: 20,
  });

  expect(report.findings).toEqual([]);
  expect(report.statuses).toEqual({ 200: 57, 201: 3, 422: 3 });
});
