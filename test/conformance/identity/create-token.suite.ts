import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { TokenToStore } from "../../../src/store/types/tokens.ts";
import { jobId, newToken } from "../../support/factories.ts";
import type { OpenStore } from "../../support/stores.ts";

export function createTokenSuite(open: OpenStore): void {
  describe("createToken", () => {
    test("stores every kind of token as it was given", async () => {
      await using db = await open();
      const { store, clock } = db;
      const parent = newToken({ roles: ["manager", "viewer"], tenant: "acme" });
      const parentId = parent.id;
      const given = [
        parent,
        newToken({ kind: "producer", types: ["email", "größe"], actor: "ci" }),
        newToken({ kind: "worker", types: null, name: "fleet" }),
        newToken({ kind: "stream", jobId: jobId(), parentId }),
        newToken({ kind: "session", roles: ["admin", "operator"], parentId, createdBy: "ada" }),
      ];

      const answers = [];
      for (const token of given) answers.push(await store.createToken(token));

      expect(answers).toEqual(Array(5).fill("created"));
      const stored = await Promise.all(given.map(({ id }) => store.token(id)));
      const now = clock.now();
      expect(stored).toEqual(
        given.map(({ hash: _hash, ttlMs, ...token }) => ({
          ...token,
          roles: expect.arrayContaining([...token.roles]),
          createdAt: now,
          expiresAt: now + ttlMs,
          lastUsedAt: null,
          revokedAt: null,
        })),
      );
      expect(stored.map((token) => token?.roles)).toEqual([
        ["viewer", "manager"],
        [],
        [],
        [],
        ["operator", "admin"],
      ]);
    });

    test("is harmless when it is repeated, also when the parent has ended", async () => {
      await using db = await open();
      const { store, clock } = db;
      const parent = newToken();
      const child = newToken({ kind: "session", parentId: parent.id });
      await store.createToken(parent);
      await store.createToken(child);
      const before = await store.token(child.id);
      await clock.advance(1_000);

      expect(await store.createToken(child)).toBe("created");
      expect(await store.token(child.id)).toEqual(before);
      await store.revokeToken(parent.id);
      expect(await store.createToken(child)).toBe("created");
      expect(await store.tokenOf(child.hash)).toBeNull();
    });

    test("refuses a known id with another secret, and a known secret with another id", async () => {
      await using db = await open();
      const { store } = db;
      const known = newToken();
      await store.createToken(known);
      const before = await store.token(known.id);

      for (const token of [newToken({ id: known.id }), newToken({ hash: known.hash })]) {
        const error = await refusalOf(store.createToken(token));
        expect(error).toMatchObject({ code: "ID_CONFLICT", details: { id: token.id } });
        expectNoHash(error, token);
      }
      expect(await store.tokens({}, { limit: 10 })).toEqual([before]);
    });

    test("stores one token when two callers store the same at once", async () => {
      await using db = await open();
      const { store } = db;
      const token = newToken();

      const answers = await Promise.all([store.createToken(token), store.createToken(token)]);

      expect(answers).toEqual(["created", "created"]);
      expect(await store.tokens({}, { limit: 10 })).toHaveLength(1);
    });

    test("refuses a token whose parent is unknown, revoked or expired", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [revoked, expired] = [newToken(), newToken({ ttlMs: 1_000 })];
      for (const token of [revoked, expired, newToken()]) await store.createToken(token);
      await store.revokeToken(revoked.id);
      await clock.advance(1_000);

      for (const parentId of [jobId(), revoked.id, expired.id]) {
        const child = newToken({ kind: "session", parentId });
        expect(await store.createToken(child)).toBe("parent_ended");
        expect(await store.token(child.id)).toBeNull();
      }
    });

    test("lets no token outlive its parent", async () => {
      await using db = await open();
      const { store, clock } = db;
      const parent = newToken({ ttlMs: 10_000 });
      await store.createToken(parent);
      const parentEnd = clock.now() + 10_000;
      await clock.advance(4_000);
      const of = (ttlMs: number) => newToken({ kind: "session", parentId: parent.id, ttlMs });
      const [short, long] = [of(5_999), of(3_600_000)];
      await store.createToken(short);
      await store.createToken(long);

      expect(await store.token(short.id)).toMatchObject({ expiresAt: parentEnd - 1 });
      expect(await store.token(long.id)).toMatchObject({ expiresAt: parentEnd });
    });

    test("ends the longest token before the last instant of the tables", async () => {
      await using db = await open();
      const token = newToken({ ttlMs: 9_000_000_000_000 });
      await db.store.createToken(token);

      expect(await db.store.token(token.id)).toMatchObject({ expiresAt: 9_000_000_000_000 });
    });

    test.each<readonly [string, Partial<TokenToStore>]>([
      ["a hash of 31 bytes", { hash: new Uint8Array(31).fill(0xab) }],
      ["a hash of 33 bytes", { hash: new Uint8Array(33).fill(0xab) }],
      ["no length", { ttlMs: 0 }],
      ["no end", { ttlMs: Infinity }],
      ["no number as its length", { ttlMs: Number.NaN }],
      ["an empty name", { name: "" }],
      ["a long name", { name: "n".repeat(201) }],
      ["half a letter", { actor: "\uD800" }],
      ["U+0000", { createdBy: "a\0b" }],
      ["an empty tenant", { tenant: "" }],
      ["types of a person", { types: ["email"] }],
      ["an empty type", { kind: "producer", types: [""] }],
      ["too many types", { kind: "worker", types: Array(101).fill("email") }],
      ["roles of a worker", { kind: "worker", roles: ["viewer"] }],
      ["a job of a person", { jobId: jobId() }],
      ["a stream without a job", { kind: "stream" }],
      ["a parent of a producer", { kind: "producer", parentId: jobId() }],
      // A caller without types, such as a parsed request.
      ["an unknown kind", JSON.parse('{"kind":"root"}')],
    ])("refuses %s, without a word about the hash", async (_what, wrong) => {
      await using db = await open();
      const token = newToken(wrong);

      const error = await refusalOf(db.store.createToken(token));

      expect(error).toMatchObject({ code: "OPTION_INVALID" });
      expect(String(error)).toContain(token.id);
      expectNoHash(error, token);
      expect(await db.store.tokens({ includeEnded: true }, { limit: 10 })).toEqual([]);
    });
  });
}

async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error("it was not refused");
}

/** Neither the error nor any of its causes shows the hash in a form that people could read. */
function expectNoHash(error: unknown, { hash }: TokenToStore): void {
  const shown = inspect(error, { depth: 10, maxArrayLength: 100, showHidden: true });
  expect(shown).not.toContain(Buffer.from(hash).toString("hex"));
  expect(shown).not.toContain(Buffer.from(hash).toString("base64"));
  expect(shown).not.toContain([...hash].join(", "));
}
