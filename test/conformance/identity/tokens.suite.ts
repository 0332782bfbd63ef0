import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import { jobId, newToken } from "../../support/factories.ts";
import { at } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import type { TokenToStore, TokenQuery } from "../../../src/store/types/tokens.ts";

export function tokensSuite(open: OpenStore): void {
  describe("tokenOf", () => {
    test("finds a token by the hash of its secret, and shows it without the hash", async () => {
      await using db = await open();
      const { store } = db;
      const [token, other] = await create(store, { roles: ["viewer"] }, { tenant: "acme" });

      expect(await store.tokenOf(token.hash)).toEqual(await store.token(token.id));
      expect(await store.tokenOf(other.hash)).toEqual(await store.token(other.id));
      expect(await store.tokenOf(newToken().hash)).toBeNull();
      expect(await store.tokenOf(new Uint8Array(0))).toBeNull();
      expect(await store.tokenOf(token.hash)).not.toHaveProperty("hash");
    });

    test("ends with the length of the token, by the clock of the store", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [token] = await create(store, { ttlMs: 1_000 });

      await clock.advance(999);
      expect(await store.tokenOf(token.hash)).toMatchObject({ id: token.id });
      await clock.advance(1);
      expect(await store.tokenOf(token.hash)).toBeNull();
      expect(await store.token(token.id)).toMatchObject({ revokedAt: null });
    });

    test("finds no token that was revoked, or whose parent was", async () => {
      await using db = await open();
      const { store } = db;
      const [parent, other] = await create(store, {}, {});
      const [child] = await create(store, { kind: "session", parentId: parent.id });

      expect(await store.tokenOf(child.hash)).toMatchObject({ parentId: parent.id });
      await store.revokeToken(parent.id);

      expect(await store.tokenOf(parent.hash)).toBeNull();
      expect(await store.tokenOf(child.hash)).toBeNull();
      expect(await store.tokenOf(other.hash)).toMatchObject({ id: other.id });
    });

    test("finds no token whose parent has expired", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [parent] = await create(store, { ttlMs: 1_000 });
      const [child] = await create(store, { kind: "session", parentId: parent.id });
      await clock.advance(1_000);

      expect(await store.tokenOf(child.hash)).toBeNull();
    });
  });

  describe("markTokensUsed", () => {
    test("notes when tokens were last used, and leaves the others", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [first, second, third] = await create(store, {}, {}, {});
      await clock.advance(1_000);
      await store.markTokensUsed([first.id, second.id, jobId()]);
      const once = clock.now();
      await clock.advance(1_000);
      await store.markTokensUsed([second.id, second.id]);
      await store.markTokensUsed([]);

      const used = await Promise.all([first, second, third].map(({ id }) => store.token(id)));
      expect(used.map((token) => token?.lastUsedAt)).toEqual([once, clock.now(), null]);
      expect(used[0]).toEqual({ ...(await store.tokenOf(first.hash)), lastUsedAt: once });
    });

    test("leaves a revoked token: it was used before", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [token] = await create(store, {});
      await store.revokeToken(token.id);
      await clock.advance(1_000);

      await store.markTokensUsed([token.id]);

      expect(await store.token(token.id)).toMatchObject({ lastUsedAt: null });
    });

    test("takes 1,000 tokens in one call, and refuses more", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [token] = await create(store, {});
      const others = Array.from({ length: 999 }, () => jobId());

      await store.markTokensUsed([...others, token.id]);

      expect(await store.token(token.id)).toMatchObject({ lastUsedAt: clock.now() });
      await expect(store.markTokensUsed([...others, token.id, jobId()])).rejects.toMatchObject({
        code: "OPTION_INVALID",
      });
    });
  });

  describe("tokens", () => {
    test("lists tokens that are valid, newest first, page by page", async () => {
      await using db = await open();
      const { store, clock } = db;
      const tokens = await create(store, {}, {}, {}, {}, {}, { ttlMs: 1_000 }, {});
      await store.revokeToken(at(tokens, 6).id);
      await clock.advance(1_000);
      const valid = newestFirst(tokens.slice(0, 5));

      expect(await idsOf(store, {}, 10)).toEqual(valid);
      expect(await idsOf(store, {}, 2)).toEqual(valid.slice(0, 2));
      expect(await idsOf(store, {}, 2, valid[1])).toEqual(valid.slice(2, 4));
      expect(await idsOf(store, {}, 2, valid[3])).toEqual(valid.slice(4));
      expect(await idsOf(store, {}, 2, valid[4])).toEqual([]);
      expect(await idsOf(store, {}, 0)).toEqual([]);
      expect(await idsOf(store, {}, -1)).toEqual([]);
    });

    test("lists tokens that have ended as well, if asked", async () => {
      await using db = await open();
      const { store, clock } = db;
      const tokens = await create(store, {}, {}, { ttlMs: 1_000 });
      await store.revokeToken(tokens[1].id);
      await clock.advance(1_000);

      expect(await idsOf(store, { includeEnded: true }, 10)).toEqual(newestFirst(tokens));
      expect(await idsOf(store, { includeEnded: false }, 10)).toEqual([tokens[0].id]);
    });

    test("finds tokens by kind, by tenant and by both", async () => {
      await using db = await open();
      const { store } = db;
      const [ada, bob, ci, fleet] = await create(
        store,
        { tenant: "acme" },
        {},
        { kind: "producer", tenant: "acme" },
        { kind: "worker", tenant: "other" },
      );

      expect(await idsOf(store, { kinds: ["person"] }, 10)).toEqual(newestFirst([ada, bob]));
      expect(await idsOf(store, { kinds: ["producer", "worker"] }, 10)).toEqual(
        newestFirst([ci, fleet]),
      );
      expect(await idsOf(store, { kinds: [] }, 10)).toEqual([]);
      expect(await idsOf(store, { tenant: "acme" }, 10)).toEqual(newestFirst([ada, ci]));
      expect(await idsOf(store, { tenant: "acme", kinds: ["person"] }, 10)).toEqual([ada.id]);
      expect(await idsOf(store, { tenant: "unknown" }, 10)).toEqual([]);
    });

    test("shows each token as it is shown alone", async () => {
      await using db = await open();
      const { store } = db;
      const [parent] = await create(store, { roles: ["manager"], tenant: "acme" });
      const [stream] = await create(store, {
        kind: "stream",
        jobId: jobId(),
        parentId: parent.id,
      });
      await store.markTokensUsed([parent.id]);

      const [newest, oldest] = newestFirst([parent, stream]);
      expect(await store.tokens({}, { limit: 10 })).toEqual([
        await store.token(newest!),
        await store.token(oldest!),
      ]);
    });
  });

  describe("token", () => {
    test("finds one token by its id, also if it has ended", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [token, other] = await create(store, { name: "ci" }, { name: "laptop" });
      await store.revokeToken(token.id);

      expect(await store.token(token.id)).toMatchObject({ name: "ci", revokedAt: clock.now() });
      expect(await store.token(other.id)).toMatchObject({ name: "laptop", revokedAt: null });
      expect(await store.token(jobId())).toBeNull();
    });
  });
}

/** Stores tokens in the order given. */
async function create<Given extends readonly Partial<TokenToStore>[]>(
  store: JobStore,
  ...given: Given
): Promise<{ readonly [Index in keyof Given]: TokenToStore }> {
  const tokens = given.map((overrides) => newToken(overrides));
  for (const token of tokens) expect(await store.createToken(token)).toBe("created");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return tokens as { readonly [Index in keyof Given]: TokenToStore };
}

function newestFirst(tokens: readonly TokenToStore[]): string[] {
  return tokens
    .map(({ id }) => id)
    .toSorted()
    .toReversed();
}

async function idsOf(
  store: JobStore,
  filter: TokenQuery,
  limit: number,
  after?: string,
): Promise<string[]> {
  const page = after === undefined ? { limit } : { limit, after };
  return (await store.tokens(filter, page)).map(({ id }) => id);
}
