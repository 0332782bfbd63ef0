import { describe, expect, test } from "vitest";
import { jobId, newToken } from "../../support/factories.ts";
import type { OpenStore } from "../../support/stores.ts";

export function revokeTokenSuite(open: OpenStore): void {
  describe("revokeToken", () => {
    test("revokes one token, once, and leaves the others", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [token, other] = [newToken(), newToken()];
      await store.createToken(token);
      await store.createToken(other);
      await clock.advance(1_000);
      const revokedAt = clock.now();

      expect(await store.revokeToken(token.id)).toBe(true);
      await clock.advance(1_000);
      expect(await store.revokeToken(token.id)).toBe(false);

      expect(await store.token(token.id)).toMatchObject({ revokedAt });
      expect(await store.token(other.id)).toMatchObject({ revokedAt: null });
    });

    test("says when a token is unknown", async () => {
      await using db = await open();

      expect(await db.store.revokeToken(jobId())).toBe(false);
    });

    test("revokes all tokens made from it, and those made from them", async () => {
      await using db = await open();
      const { store, clock } = db;
      const session = (parentId: string) => newToken({ kind: "session", parentId });
      const [root, stranger] = [newToken(), newToken()];
      const [first, second, foreign] = [session(root.id), session(root.id), session(stranger.id)];
      const stream = newToken({ kind: "stream", jobId: jobId(), parentId: first.id });
      for (const token of [root, stranger, first, second, foreign, stream]) {
        await store.createToken(token);
      }

      expect(await store.revokeToken(root.id)).toBe(true);

      const revokedAt = clock.now();
      for (const { id } of [root, first, second, stream]) {
        expect(await store.token(id)).toMatchObject({ revokedAt });
      }
      for (const { id } of [stranger, foreign]) {
        expect(await store.token(id)).toMatchObject({ revokedAt: null });
      }
    });

    test("leaves the parent, and the instant of a token that was revoked before", async () => {
      await using db = await open();
      const { store, clock } = db;
      const parent = newToken();
      const child = newToken({ kind: "session", parentId: parent.id });
      await store.createToken(parent);
      await store.createToken(child);
      await store.revokeToken(child.id);
      const revokedAt = clock.now();

      expect(await store.tokenOf(parent.hash)).toMatchObject({ id: parent.id });
      await clock.advance(1_000);
      await store.revokeToken(parent.id);
      expect(await store.token(child.id)).toMatchObject({ revokedAt });
    });

    test("revokes a token that has expired", async () => {
      await using db = await open();
      const { store, clock } = db;
      const token = newToken({ ttlMs: 1_000 });
      await store.createToken(token);
      await clock.advance(2_000);

      expect(await store.revokeToken(token.id)).toBe(true);
      expect(await store.token(token.id)).toMatchObject({ revokedAt: clock.now() });
    });

    test("leaves no valid token that is made at the same time", async () => {
      await using db = await open();
      const { store } = db;
      for (let round = 0; round < 10; round += 1) {
        const parent = newToken();
        await store.createToken(parent);
        const children = Array.from({ length: 4 }, () =>
          newToken({ kind: "session", parentId: parent.id }),
        );
        await Promise.all([
          ...children.slice(0, round % 5).map((child) => store.createToken(child)),
          store.revokeToken(parent.id),
          ...children.slice(round % 5).map((child) => store.createToken(child)),
        ]);

        const valid = await store.tokens({}, { limit: 10 });
        expect(valid).toEqual([]);
      }
    });
  });
}
