/** `mill.tokens`: makes, lists, revokes and verifies credentials. */
import { actOf } from "../jobs/acted-by.ts";
import { createHash } from "node:crypto";
import type { Clock, Dice } from "../core/clock.ts";
import { durationMs } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import type { JobId } from "../core/job.ts";
import type { NewToken, TokenFilter, Tokens, TokenView } from "../api/tokens.ts";
import {
  aName,
  anObject,
  aWholeNumber,
  isDuration,
  listOf,
  must,
  oneOf,
  type Rule,
} from "../api/rules.ts";
import type { JobStore } from "../store/store.ts";
import type { Act } from "../store/types/audit.ts";
import type { TokenRecord, TokenToStore } from "../store/types/tokens.ts";
import { aText, insistOn } from "../jobs/check-text.ts";
import { dateOf, idOf } from "../jobs/views.ts";

const SECRET_BYTES = 32;
const SECRET = /^mr_(person|producer|worker|stream|session)_[\w-]{43}$/;
const DAY_MS = 86_400_000;
const TTL_MS_DEFAULT = {
  person: 90 * DAY_MS,
  producer: 90 * DAY_MS,
  worker: 90 * DAY_MS,
  session: DAY_MS / 2,
  stream: 600_000,
} as const;
const STREAM_MS_MAX = 600_000;
const TTL_MS_MAX = 10 * 365 * DAY_MS;
/** The time of the last use is exact to this. */
const USED_MS = 60_000;
const PAGE_DEFAULT = 50;
const PAGE_MAX = 1_000;
const TYPES_MAX = 100;

const aTtl = must((value) => isDuration(value, { minMs: 1 }), 'a duration such as "30d"');
const aRole = oneOf("viewer", "operator", "manager", "admin");
const someRoles: Rule = (value, place) =>
  listOf(aRole)(value, place) ??
  must((roles) => Array.isArray(roles) && roles.length > 0, "a list of roles")(value, place);
const someTypes: Rule = (value, place) =>
  listOf(aName)(value, place) ??
  must(
    (types) => Array.isArray(types) && types.length > 0 && types.length <= TYPES_MAX,
    `a list of 1 to ${TYPES_MAX} types`,
  )(value, place);

const COMMON = { name: aName, kind: oneOf(...Object.keys(TTL_MS_DEFAULT)) };
const OPTIONAL = { actor: aName, tenant: aName, ttl: aTtl };
const EXAMPLE = 'an object such as { kind: "person", name: "Ada", roles: ["operator"] }';
const aParent = aText(100);

/** The options by kind. */
const RULES: Readonly<Record<TokenView["kind"], Rule>> = {
  person: anObject({ required: { ...COMMON, roles: someRoles }, optional: OPTIONAL }, EXAMPLE),
  producer: anObject({ required: COMMON, optional: { ...OPTIONAL, types: someTypes } }, EXAMPLE),
  worker: anObject({ required: COMMON, optional: { ...OPTIONAL, types: someTypes } }, EXAMPLE),
  stream: anObject(
    { required: { ...COMMON, jobId: aText(100) }, optional: { ...OPTIONAL, parentId: aParent } },
    EXAMPLE,
  ),
  session: anObject(
    { required: { ...COMMON, roles: someRoles }, optional: { ...OPTIONAL, parentId: aParent } },
    EXAMPLE,
  ),
};

const FILTER: Rule = anObject(
  {
    required: {},
    optional: {
      kind: COMMON.kind,
      tenant: aName,
      ended: must((value) => typeof value === "boolean", "true or false"),
      after: aText(100),
      limit: aWholeNumber({ min: 1 }),
    },
  },
  'an object such as { kind: "person" }',
);

export interface TokensParts {
  readonly store: JobStore;
  readonly newId: () => JobId;
  readonly dice: Pick<Dice, "bytes">;
  readonly clock: Pick<Clock, "now">;
  /** The tenant of a mill of one tenant, whose tokens reach it alone; null: all tenants. */
  readonly tenant: string | null;
}

export function makeTokens(parts: TokensParts): Tokens {
  const { store } = parts;
  return {
    create: (token, by) => create(parts, token, actOf("tokens.create", by)),
    async list(filter = {}) {
      insistOn("tokens.list", FILTER, filter, "");
      return (await store.tokens(queryOf(filter), pageOf(filter))).map(tokenView);
    },
    async revoke(text, by) {
      const id = idOf(text, "token");
      if (await store.revokeToken(id, actOf("tokens.revoke", by))) return;
      if ((await store.token(id)) === null) throw notFound(id);
    },
    verify: (secret) => verify(parts, secret),
  };
}

async function create(
  { store, newId, dice, tenant }: TokensParts,
  given: NewToken,
  { by, reason }: Act,
): ReturnType<Tokens["create"]> {
  const { kind } = check(given);
  const createdBy = by ?? "library";
  insistOn("tokens.create", aName, createdBy, "actor");
  const secret = `mr_${kind}_${Buffer.from(dice.bytes(SECRET_BYTES)).toString("base64url")}`;
  const id = newId();
  const token: TokenToStore = {
    id,
    kind,
    name: given.name,
    actor: given.actor ?? given.name,
    roles: "roles" in given ? [...new Set(given.roles)] : [],
    tenant: given.tenant ?? tenant,
    types: "types" in given ? (given.types ?? null) : null,
    jobId: given.kind === "stream" ? idOf(given.jobId) : null,
    parentId: "parentId" in given ? idOf(given.parentId, "token") : null,
    createdBy,
    hash: hashOf(secret),
    ttlMs: ttlOf(given),
  };
  const answer = await store.createToken(token, reason);
  if (answer === "parent_ended") {
    throw new MillraceError("TOKEN_ENDED", "the token to make this one with has ended");
  }
  const stored = await store.token(id);
  if (stored === null) throw notFound(id);
  return { token: tokenView(stored), secret };
}

/** An unknown kind is named before the options of its kind are. */
function check(given: NewToken): NewToken {
  const kind: unknown = typeof given === "object" && given !== null ? given.kind : undefined;
  const rule = Object.entries(RULES).find(([name]) => name === kind)?.[1] ?? RULES.person;
  insistOn("tokens.create", rule, given, "");
  return given;
}

function ttlOf({ kind, ttl }: NewToken): number {
  const ms = ttl === undefined ? TTL_MS_DEFAULT[kind] : durationMs(ttl, "ttl");
  const most = kind === "stream" ? STREAM_MS_MAX : TTL_MS_MAX;
  if (ms > 0 && ms <= most) return ms;
  const limit = kind === "stream" ? "ten minutes" : "ten years";
  throw new MillraceError(
    "OPTION_INVALID",
    `tokens.create: ttl must be above 0 and at most ${limit}`,
    {
      details: { option: "ttl" },
    },
  );
}

/** A text of another form is no secret of ours, and costs no query. */
async function verify({ store, clock }: TokensParts, secret: string): Promise<TokenView | null> {
  if (typeof secret !== "string" || !SECRET.test(secret)) return null;
  const token = await store.tokenOf(hashOf(secret));
  if (token === null) return null;
  const isNews = token.lastUsedAt === null || clock.now() - token.lastUsedAt >= USED_MS;
  // A read-only or busy store must not refuse a valid token.
  if (isNews) await store.markTokensUsed([token.id]).catch(() => {});
  return tokenView(token);
}

function hashOf(secret: string): Uint8Array {
  return createHash("sha256").update(secret).digest();
}

function queryOf({ kind, tenant, ended }: TokenFilter): Parameters<JobStore["tokens"]>[0] {
  return {
    ...(kind === undefined ? {} : { kinds: [kind] }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(ended === true ? { includeEnded: true } : {}),
  };
}

function pageOf({ after, limit }: TokenFilter): Parameters<JobStore["tokens"]>[1] {
  const page = { limit: Math.min(limit ?? PAGE_DEFAULT, PAGE_MAX) };
  return after === undefined ? page : { ...page, after: idOf(after, "token") };
}

function tokenView(token: TokenRecord): TokenView {
  const { createdAt, expiresAt, lastUsedAt, revokedAt, ...rest } = token;
  return {
    ...rest,
    createdAt: new Date(createdAt),
    expiresAt: new Date(expiresAt),
    lastUsedAt: dateOf(lastUsedAt),
    revokedAt: dateOf(revokedAt),
  };
}

function notFound(id: string): MillraceError {
  return new MillraceError("TOKEN_NOT_FOUND", `there is no token ${id}`, { details: { id } });
}
