import { describe, expect, test } from "vitest";
import type { ClaimRequest } from "../../types/jobs-and-runs.ts";
import { LostClaims } from "./lost-claims.ts";

const HOUR_MS = 3_600_000;

describe("LostClaims", () => {
  test("keeps a claim that was never queried, however long the database was unreachable", () => {
    const { lostClaims, request, pass } = oneLostClaim();
    pass(HOUR_MS);
    expect(lostClaims.due(request)).toHaveLength(1);
  });

  test("queries a claim that is not found at growing intervals", () => {
    const { lostClaims, request, pass } = oneLostClaim();
    let queries = 0;
    for (let ms = 0; ms < 60_000; ms += 10, pass(10)) {
      queries += lostClaims.due(request).length;
      for (const each of lostClaims.due(request)) lostClaims.notFound(each);
    }
    expect(queries).toBeGreaterThan(8);
    expect(queries).toBeLessThan(15);
    pass(60_000);
    expect(lostClaims.due(request)).toHaveLength(1);
  });

  test("drops a claim that is not found after a long time", () => {
    const { lostClaims, request, pass } = oneLostClaim();
    pass(HOUR_MS);
    for (const each of lostClaims.due(request)) lostClaims.notFound(each);
    expect(lostClaims.due(request)).toEqual([]);
  });

  test("drops a claim that was found", () => {
    const { lostClaims, request } = oneLostClaim();
    for (const each of lostClaims.due(request)) lostClaims.resolve(each);
    expect(lostClaims.due(request)).toEqual([]);
  });

  test("answers a worker only its own claims", () => {
    const { lostClaims, request } = oneLostClaim();
    expect(lostClaims.due({ ...request, worker: "another" })).toEqual([]);
  });

  test("answers a claim to the next request for the same slots, whatever its limit", () => {
    const { lostClaims, request } = oneLostClaim();
    expect(lostClaims.due({ ...request, lanes: ["fast"] })).toEqual([]);
    expect(lostClaims.due({ ...request, prefetch: true })).toEqual([]);
    expect(lostClaims.due({ ...request, limit: 1 })).toHaveLength(1);
  });

  test("answers a claim for a prefetch to any request of its worker", () => {
    const { lostClaims, request } = oneLostClaim({ prefetch: true });
    expect(lostClaims.due({ ...request, lanes: ["fast"], prefetch: false })).toHaveLength(1);
  });

  test("forgets the claims of a worker that has deregistered", () => {
    const { lostClaims, request } = oneLostClaim();
    lostClaims.forget("another");
    expect(lostClaims.due(request)).toHaveLength(1);
    lostClaims.forget("worker");
    expect(lostClaims.due(request)).toEqual([]);
  });
});

function oneLostClaim(wanted: Partial<ClaimRequest> = {}) {
  let now = 0;
  const lostClaims = new LostClaims(() => now);
  const request = {
    worker: "worker",
    lanes: "any",
    limit: 10,
    prefetch: false,
    ...wanted,
  } as const;
  lostClaims.add(request, "secret");
  return { lostClaims, request, pass: (ms: number) => (now += ms) };
}
