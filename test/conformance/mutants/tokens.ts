/** What can go wrong with API tokens. */
import type { Faults } from "./all.ts";

export const SQLITE_TOKEN_FAULTS: Faults = {
  createToken: {
    find_same_token: [
      ["a repeated token is refused", "WHERE", "WHERE 0 AND"],
      ["a known id is taken with any secret", "AND hash = :hash", "AND :hash IS NOT NULL"],
      ["a known secret is taken with any id", "WHERE id = :id", "WHERE :id IS NOT NULL"],
    ],
    find_parent_token: [
      ["a revoked parent makes tokens", "AND revoked_at IS NULL", ""],
      ["an expired parent makes tokens", "expires_at > :now", "expires_at + 1 > :now"],
      ["any token is the parent", "id = :id", ":id IS NOT NULL"],
    ],
    insert_token: [
      ["a token outlives its parent", "min(:now + :ttl_ms, :until)", ":now + :ttl_ms + 0 * :until"],
      ["every token lives as long as its parent", "min(:now + :ttl_ms, :until)", ":until"],
      ["a known token is an error of the database", "ON CONFLICT DO NOTHING", ""],
      ["the tenant is lost", ":roles, :tenant, :types", ":roles, nullif(1, 1), :types"],
      ["every type is allowed", ":types, :job_id", "nullif(1, 1), :job_id"],
      ["roles are lost", ":actor, :roles", ":actor, 0"],
    ],
    "identity/tokens.ts": [
      ["any token is taken", "  requireToken(given);\n", ""],
      ["an unknown parent makes tokens", 'if (made === undefined) return "parent_ended";', ""],
      [
        "a conflict is silent",
        "if (changes === 0) throw tokenConflict(given.id);",
        "void changes;",
      ],
    ],
  },
  tokenOf: {
    find_usable_token: [
      ["any secret will do", "WHERE token.hash = :hash", "WHERE :hash IS NOT NULL"],
      ["a revoked token is valid", "AND token.revoked_at IS NULL", ""],
      ["an expired token is valid", "token.expires_at > :now\n", "token.expires_at + 1 > :now\n"],
      ["the end of the parent does not count", "parent.expires_at > :now", "parent.id IS NOT NULL"],
      ["the revocation of the parent does not count", "parent.revoked_at IS NULL AND", ""],
      [
        "the parent need not exist",
        "parent.expires_at > :now",
        "parent.expires_at > :now IS NOT 0",
      ],
      [
        "a token with a parent is never valid",
        "OR (parent.revoked_at",
        "OR (0 AND parent.revoked_at",
      ],
    ],
  },
  markTokensUsed: {
    mark_tokens_used: [
      ["no use is noted", "WHERE", "WHERE 0 AND"],
      [
        "every token was used",
        "id IN (SELECT unhex(value) FROM json_each(:ids))",
        ":ids IS NOT NULL",
      ],
      ["a revoked token was used", "AND revoked_at IS NULL", ""],
      ["the first use counts, not the last", "last_used_at < :now", "0"],
    ],
    "identity/tokens.ts": [["any number is taken", "  requireMarked(ids);\n", ""]],
  },
  tokens: {
    list_tokens: [
      ["the oldest come first", "ORDER BY id DESC", "ORDER BY id"],
      ["pages overlap", "id < :before", "id <= :before"],
      ["every page is the first", "id < :before", ":before IS NOT NULL"],
      ["all kinds are listed", ":kinds IS NULL OR", ":kinds IS NULL OR 1 OR"],
      ["all tenants are listed", "tenant = :tenant)", ":tenant IS NOT NULL)"],
      ["revoked tokens are listed", "revoked_at IS NULL AND", ""],
      ["expired tokens are listed", "expires_at > :now", "expires_at + 1 > :now"],
      ["ended tokens are never listed", "(:with_ended OR", "(:with_ended AND"],
      ["pages have no end", "LIMIT :limit", "LIMIT :limit + 1"],
    ],
    "identity/tokens.ts": [["a limit below zero is none", "bounded(limit, PAGE_MAX)", "limit"]],
  },
  token: {
    find_token: [
      ["any token is found", "WHERE id = :id", "WHERE :id IS NOT NULL"],
      ["ended tokens are not found", "id = :id", "id = :id AND revoked_at IS NULL"],
    ],
  },
  revokeToken: {
    revoke_token: [
      ["all tokens are revoked", "id = :id", ":id IS NOT NULL"],
      ["a token is revoked twice", "AND revoked_at IS NULL", ""],
      ["no token is revoked", "WHERE", "WHERE 0 AND"],
    ],
    revoke_children: [
      ["what was made from it stays", "WHERE", "WHERE 0 AND"],
      [
        "the children of others are revoked",
        "parent IN (SELECT unhex(value) FROM json_each(:parents))",
        "parent IS NOT NULL AND :parents IS NOT NULL",
      ],
      ["the end of a revoked token moves", "AND revoked_at IS NULL", "AND revoked_at IS NOT :now"],
    ],
    "identity/tokens.ts": [
      ["only children are revoked", "made.map((child) => idHex(idFromBytes(child.id)))", "[]"],
      [
        "an unknown token is revoked",
        ".changes === 0) return false;",
        ".changes === -1) return false;",
      ],
    ],
  },
  prune: {
    delete_tokens: [
      ["ended tokens stay", "WHERE id IN", "WHERE 0 AND id IN"],
      ["a session is kept as long as others", "<= :now", "<= :before"],
      ["a session is removed before its end", "<= :now", "<= :now + 1"],
      ["other tokens are removed at once", "<= :before", "<= :now + 0 * :before"],
      ["streams stay", "kind IN (4, 5)", "kind IN (5)"],
      ["workers stay", "kind IN (1, 2, 3)", "kind IN (1, 2)"],
      [
        "a revoked session stays",
        "(kind IN (4, 5) AND min(expires_at, coalesce(revoked_at, expires_at)) <=",
        "(kind IN (4, 5) AND expires_at <=",
      ],
      [
        "a late revocation counts",
        "(kind IN (1, 2, 3) AND min(expires_at, coalesce(revoked_at, expires_at)) <=",
        "(kind IN (1, 2, 3) AND coalesce(revoked_at, expires_at) <=",
      ],
      ["the youngest go first", "expires_at)), id\n", "expires_at)) DESC, id\n"],
      ["there is no limit", "LIMIT :limit", "LIMIT 1000 + :limit"],
    ],
    "retention/prune.ts": [
      ["a full batch of tokens is the last", "tokens, minutes, deploys]", "minutes, deploys]"],
    ],
  },
};

export const POSTGRES_TOKEN_FAULTS: Faults = {
  createToken: {
    find_same_token: [
      [
        "a known id is taken with any secret",
        "AND hash = decode(:hash::text, 'hex')",
        "AND :hash::text IS NOT NULL",
      ],
      [
        "a known secret is taken with any id",
        "WHERE id = :id::uuid",
        "WHERE :id::uuid IS NOT NULL",
      ],
    ],
    find_parent_token: [
      ["a revoked parent makes tokens", "AND revoked_at IS NULL", ""],
      ["an expired parent makes tokens", "expires_at >", "expires_at >="],
      ["any token is the parent", "id = :id::uuid", ":id::uuid IS NOT NULL"],
    ],
    insert_token: [
      ["a token outlives its parent", "least(", "greatest("],
      ["a known token is an error of the database", "ON CONFLICT DO NOTHING", ""],
      ["the tenant is lost", ":tenant::text", "nullif(:tenant::text, :tenant::text)"],
      ["every type is allowed", ":types::json", "nullif(:types::text, :types::text)::json"],
      ["roles are lost", ":roles::smallint", ":roles::smallint * 0"],
    ],
    "identity/tokens.ts": [
      ["any token is taken", "  requireToken(given);\n", ""],
      ["an unknown parent makes tokens", 'if (made === undefined) return "parent_ended";', ""],
      [
        "a repeated token finds its parent ended",
        '!== undefined) return "created";\n  const parent',
        '=== null) return "created";\n  const parent',
      ],
      ["a conflict is silent", "throw tokenConflict(given.id);", 'return "created";'],
    ],
  },
  tokenOf: {
    find_usable_token: [
      [
        "any secret will do",
        "WHERE token.hash = decode(:hash::text, 'hex')",
        "WHERE :hash::text IS NOT NULL",
      ],
      ["a revoked token is valid", "AND token.revoked_at IS NULL", ""],
      [
        "an expired token is valid",
        "token.expires_at > moment.at\n",
        "token.expires_at >= moment.at\n",
      ],
      [
        "the end of the parent does not count",
        "parent.expires_at > moment.at",
        "parent.id IS NOT NULL",
      ],
      ["the revocation of the parent does not count", "parent.revoked_at IS NULL AND", ""],
      [
        "the parent need not exist",
        "parent.expires_at > moment.at",
        "(parent.expires_at > moment.at) IS NOT FALSE",
      ],
      [
        "a token with a parent is never valid",
        "OR (parent.revoked_at",
        "OR (false AND parent.revoked_at",
      ],
    ],
  },
  markTokensUsed: {
    mark_tokens_used: [
      ["no use is noted", "WHERE token.id", "WHERE false AND token.id"],
      ["every token was used", "id = ANY (:ids::uuid[])", ":ids::uuid[] IS NOT NULL"],
      ["a revoked token was used", "AND revoked_at IS NULL", ""],
      ["the first use counts, not the last", "last_used_at < (SELECT at FROM moment)", "false"],
    ],
    "identity/tokens.ts": [["any number is taken", "  requireMarked(ids);\n", ""]],
  },
  "a commit where synchronous_commit is off": {
    mark_tokens_used: [
      ["the use of a token waits", "set_config('synchronous_commit', 'off', true)", "1"],
    ],
  },
  tokens: {
    list_tokens: [
      ["the oldest come first", "ORDER BY id DESC", "ORDER BY id"],
      ["pages overlap", "id < :before::uuid", "id <= :before::uuid"],
      ["every page is the first", "id < :before::uuid", ":before::uuid IS NOT NULL"],
      ["all kinds are listed", ":kinds::smallint[] IS NULL OR", "true OR"],
      ["all tenants are listed", "tenant = :tenant::text)", ":tenant::text IS NOT NULL)"],
      ["revoked tokens are listed", "revoked_at IS NULL AND", ""],
      ["expired tokens are listed", "expires_at > (", "expires_at >= ("],
      ["ended tokens are never listed", "OR (revoked_at", "AND (revoked_at"],
      ["pages have no end", "LIMIT :limit::integer", "LIMIT :limit::integer + 1"],
    ],
    "identity/tokens.ts": [
      ["a limit below zero is passed on", "bounded(limit, PAGE_MAX)", "limit"],
    ],
  },
  token: {
    find_token: [
      ["any token is found", "WHERE id = :id::uuid", "WHERE :id::uuid IS NOT NULL"],
      ["ended tokens are not found", "id = :id::uuid", "id = :id::uuid AND revoked_at IS NULL"],
    ],
  },
  revokeToken: {
    find_parent_token: [["a child slips past the revocation", "FOR SHARE", ""]],
    revoke_token: [
      ["all tokens are revoked", "id = :id::uuid", ":id::uuid IS NOT NULL"],
      ["a token is revoked twice", "AND revoked_at IS NULL", ""],
      ["no token is revoked", "WHERE", "WHERE false AND"],
    ],
    revoke_children: [
      ["what was made from it stays", "WHERE", "WHERE false AND"],
      [
        "the children of others are revoked",
        "parent = ANY (:parents::uuid[])",
        "parent IS NOT NULL AND :parents::uuid[] IS NOT NULL",
      ],
      [
        "the end of a revoked token moves",
        "AND revoked_at IS NULL",
        "AND revoked_at IS DISTINCT FROM millrace.clock_at(:now::timestamptz)",
      ],
    ],
    "identity/tokens.ts": [
      [
        "only children are revoked",
        "parents = made.map((child) => child.id);",
        "parents = made.slice(made.length).map((child) => child.id);",
      ],
      ["an unknown token is revoked", "=== 0) return false;", "=== -1) return false;"],
    ],
  },
  prune: {
    prune_tokens: [
      ["ended tokens stay", "WHERE id = ANY", "WHERE false AND id = ANY"],
      [
        "a session is kept as long as others",
        "<= (SELECT at FROM moment))",
        "<= (SELECT at FROM moment) - interval '30 days')",
      ],
      [
        "a session is removed before its end",
        "<= (SELECT at FROM moment))",
        "<= (SELECT at FROM moment) + interval '1 ms')",
      ],
      [
        "other tokens are removed at once",
        "- :age::bigint * interval '1 millisecond'",
        "- 0 * :age::bigint * interval '1 millisecond'",
      ],
      ["streams stay", "kind IN (4, 5)", "kind IN (5)"],
      ["workers stay", "kind IN (1, 2, 3)", "kind IN (1, 2)"],
      [
        "a revoked session stays",
        "(kind IN (4, 5) AND least(expires_at, revoked_at) <=",
        "(kind IN (4, 5) AND expires_at <=",
      ],
      [
        "a late revocation counts",
        "AND least(expires_at, revoked_at)\n",
        "AND coalesce(revoked_at, expires_at)\n",
      ],
      [
        "the youngest go first",
        "least(expires_at, revoked_at), id\n",
        "least(expires_at, revoked_at) DESC, id\n",
      ],
      ["there is no limit", "LIMIT :limit::integer", "LIMIT 1000 + :limit::integer"],
    ],
    "retention/prune.ts": [
      ["a full batch of tokens is the last", "tokens, minutes, deploys]", "minutes, deploys]"],
    ],
  },
};
