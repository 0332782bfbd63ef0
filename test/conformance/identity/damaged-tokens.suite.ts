/** Tokens that were changed past the store: none of them is valid without a valid parent. */
import { describe, expect, test } from "vitest";
import { newToken } from "../../support/factories.ts";
import type { OpenPast } from "../doctor/past-the-store.ts";

export function damagedTokensSuite(open: OpenPast): void {
  describe("tokenOf", () => {
    test.each([
      ["was deleted", "DELETE FROM {api_token} WHERE kind = 1 AND name = 'parent'"],
      ["alone was revoked", "UPDATE {api_token} SET revoked_at = created_at WHERE name = 'parent'"],
      ["alone expires", "UPDATE {api_token} SET expires_at = created_at WHERE name = 'parent'"],
    ])("finds no token whose parent %s", async (_how, sql) => {
      await using db = await open();
      const { store } = db;
      const [parent, other] = [newToken({ name: "parent" }), newToken()];
      const child = newToken({ kind: "session", parentId: parent.id });
      for (const token of [parent, other, child]) await store.createToken(token);
      expect(await store.tokenOf(child.hash)).toMatchObject({ id: child.id });

      await db.run(sql);

      expect(await store.tokenOf(child.hash)).toBeNull();
      expect(await store.tokenOf(other.hash)).toMatchObject({ id: other.id });
    });
  });

  describe("revokeToken", () => {
    test("comes to an end where two tokens are made from each other", async () => {
      await using db = await open();
      const { store } = db;
      const first = newToken({ kind: "session" });
      const second = newToken({ kind: "session", parentId: first.id });
      for (const token of [first, second]) await store.createToken(token);
      await db.run(`UPDATE {api_token} SET parent = (SELECT id FROM {api_token} AS other
                    WHERE other.parent IS NOT NULL) WHERE parent IS NULL`);

      expect(await store.revokeToken(second.id)).toBe(true);

      expect(await store.tokens({}, { limit: 10 })).toEqual([]);
    });
  });
}
