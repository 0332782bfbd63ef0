/**
 * Finds out who makes a request: by a Bearer token, by the login of the host application, by the
 * session of a browser, or by a stream token in the URL.
 */
import type { PersonRole } from "../../api/tokens.ts";
import { createHash, timingSafeEqual } from "node:crypto";
import type { TokenView } from "../../api/tokens.ts";
import { RequestRefusal } from "../problem.ts";
import { sessionSecret } from "./cookie.ts";
import { identityOf, ownerOf, type Identity } from "./identity.ts";
import type { KnownTokens } from "./known-tokens.ts";
import { insistOwnPage, type OriginRules } from "./origin.ts";

/** A user of the application that mounts the API. */
export interface HostUser {
  /** The name for records. */
  readonly actor: string;
  readonly roles: readonly PersonRole[];
  /** The only tenant that the user reaches. Default: all tenants. */
  readonly tenant?: string;
}

/** Answers the user of a request; null: the application does not know one. */
export type Authenticate = (request: Request) => Promise<HostUser | null> | HostUser | null;

export interface IdentifyParts {
  readonly tokens: KnownTokens;
  readonly origin: OriginRules;
  /** A secret of the person who started the server; null: there is none. */
  readonly ownerSecret: string | null;
  readonly authenticate: Authenticate | null;
}

/** `mayBeInUrl`: the route takes a stream token as the query parameter `token`. */
export async function identify(
  request: Request,
  { tokens, origin, ownerSecret, authenticate }: IdentifyParts,
  mayBeInUrl: boolean,
): Promise<Identity> {
  const bearer = bearerOf(request);
  if (bearer !== null) {
    if (ownerSecret !== null && isSame(bearer, ownerSecret)) return ownerOf("owner");
    return known(await tokens.verify(bearer), ({ kind }) => kind !== "session");
  }
  const inUrl = mayBeInUrl ? new URL(request.url).searchParams.get("token") : null;
  if (inUrl !== null) return known(await tokens.verify(inUrl), ({ kind }) => kind === "stream");
  const user = (await authenticate?.(request)) ?? null;
  const identity = user === null ? await bySession(request, tokens) : hostIdentity(user);
  insistOwnPage(request, origin);
  return identity;
}

async function bySession(request: Request, tokens: KnownTokens): Promise<Identity> {
  const secret = sessionSecret(request);
  const token = secret === null ? null : await tokens.verify(secret);
  return known(token, ({ kind }) => kind === "session");
}

function known(token: TokenView | null, isRight: (token: TokenView) => boolean): Identity {
  if (token !== null && isRight(token)) return identityOf(token);
  throw new RequestRefusal("UNAUTHORIZED", "The request has no valid credential.", [], {
    "www-authenticate": 'Bearer realm="millrace"',
  });
}

function hostIdentity({ actor, roles, tenant }: HostUser): Identity {
  return { ...ownerOf(actor), roles, tenant: tenant ?? null };
}

function bearerOf(request: Request): string | null {
  const header = request.headers.get("authorization");
  if (header === null) return null;
  return /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? "";
}

/** Compares digests, so that the time of the comparison reveals nothing about the secret. */
export function isSame(given: string, secret: string): boolean {
  return timingSafeEqual(digest(given), digest(secret));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
