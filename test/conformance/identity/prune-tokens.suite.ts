import { describe, expect, test } from "vitest";
import { ENDED_TOKEN_MS } from "../../../src/store/shared/limits.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { jobId, newToken, retention } from "../../support/factories.ts";
import type { OpenStore } from "../../support/stores.ts";

const RULES = retention();
const STREAM = { kind: "stream", jobId: jobId() } as const;
const SHORT_MS = 1_000;

export function pruneTokensSuite(open: OpenStore): void {
  describe("prune", () => {
    test("removes sessions and streams that have expired, at once", async () => {
      await using db = await open();
      const { store, clock } = db;
      const given = [
        newToken({ kind: "session", ttlMs: SHORT_MS }),
        newToken({ ...STREAM, ttlMs: SHORT_MS }),
        newToken({ kind: "session" }),
        newToken(STREAM),
        newToken({ ttlMs: SHORT_MS }),
        newToken({ kind: "producer", ttlMs: SHORT_MS }),
        newToken({ kind: "worker", ttlMs: SHORT_MS }),
      ];
      for (const token of given) await store.createToken(token);

      await clock.advance(SHORT_MS - 1);
      expect(await store.prune(RULES, 100)).toMatchObject({ tokens: 0 });
      await clock.advance(1);
      expect(await store.prune(RULES, 100)).toMatchObject({ tokens: 2, more: false });

      expect(await idsOf(store)).toEqual(sorted(given.slice(2).map(({ id }) => id)));
    });

    test("removes sessions that were revoked, at once", async () => {
      await using db = await open();
      const { store } = db;
      const [parent, other] = [newToken(), newToken({ kind: "session" })];
      const child = newToken({ kind: "session", parentId: parent.id });
      for (const token of [parent, other, child]) await store.createToken(token);
      await store.revokeToken(parent.id);

      expect(await store.prune(RULES, 100)).toMatchObject({ tokens: 1 });

      expect(await idsOf(store)).toEqual(sorted([parent.id, other.id]));
    });

    test("keeps other tokens 30 days after they expired or were revoked", async () => {
      await using db = await open();
      const { store, clock } = db;
      const expired = newToken({ ttlMs: SHORT_MS });
      const revoked = newToken({ kind: "worker", ttlMs: 2 * ENDED_TOKEN_MS });
      const late = newToken({ kind: "producer", ttlMs: SHORT_MS });
      const valid = newToken({ ttlMs: 2 * ENDED_TOKEN_MS });
      for (const token of [expired, revoked, late, valid]) await store.createToken(token);
      await clock.advance(SHORT_MS);
      await store.revokeToken(revoked.id);
      await clock.advance(SHORT_MS);
      // The end of a token that was revoked after it had expired is when it expired.
      await store.revokeToken(late.id);

      await clock.advance(ENDED_TOKEN_MS - SHORT_MS - 1);
      expect(await store.prune(RULES, 100)).toMatchObject({ tokens: 0 });
      await clock.advance(1);
      expect(await store.prune(RULES, 100)).toMatchObject({ tokens: 3 });

      expect(ENDED_TOKEN_MS).toBe(30 * 86_400_000);
      expect(await idsOf(store)).toEqual([valid.id]);
    });

    test("removes what ended first, no more than asked, and says if more remain", async () => {
      await using db = await open();
      const { store, clock } = db;
      const tokens = [3, 1, 2].map((turn) => newToken({ kind: "session", ttlMs: turn * 100 }));
      for (const token of tokens) await store.createToken(token);
      await clock.advance(1_000);

      expect(await store.prune(RULES, 2)).toMatchObject({ tokens: 2, more: true });
      expect(await idsOf(store)).toEqual([tokens[0]?.id]);
      expect(await store.prune(RULES, 2)).toMatchObject({ tokens: 1, more: false });
    });
  });
}

async function idsOf(store: JobStore): Promise<string[]> {
  const all = await store.tokens({ includeEnded: true }, { limit: 100 });
  return sorted(all.map(({ id }) => id));
}

function sorted(ids: readonly string[]): string[] {
  return ids.toSorted();
}
