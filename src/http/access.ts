/**
 * Who may ask. The server is for this machine alone, and of its users for the one who was shown the
 * token: as a link that leaves a cookie behind, or as a Bearer.
 *
 * A cookie is sent by the browser whoever made the page that asks. What changes something must
 * therefore come from a page of ours; a Bearer is proof enough by itself.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { problem, Refusal } from "./problem.ts";

const OWN_NAMES = new Set(["localhost", "127.0.0.1", "[::1]"]);
const READING = new Set(["GET", "HEAD"]);

/** A page elsewhere can make its name point to this machine, but its requests bear that name. */
export function ownHostOnly(): MiddlewareHandler {
  return async (context, next) => {
    if (OWN_NAMES.has(hostOf(context).replace(/:\d+$/, ""))) return next();
    return problem(new Refusal("FOREIGN_HOST", "This server answers to its own address only."));
  };
}

/** `/?token=…`: a right token becomes a cookie, and either kind leaves the address bar. */
export function signIn(token: string): MiddlewareHandler {
  return async (context, next) => {
    const given = context.req.query("token");
    if (given === undefined) return next();
    if (isSame(given, token)) {
      setCookie(context, cookieName(context), token, {
        httpOnly: true,
        sameSite: "Strict",
        path: "/",
      });
    }
    return context.redirect("/", 303);
  };
}

/** Lets nobody through who cannot show the token. */
export function tokenOnly(token: string): MiddlewareHandler {
  return async (context, next) => {
    const bearer = bearerOf(context);
    if (bearer !== null) return isSame(bearer, token) ? next() : unauthorised();
    if (!isSame(getCookie(context, cookieName(context)) ?? "", token)) return unauthorised();
    if (READING.has(context.req.method) || isOwnPage(context)) return next();
    return problem(
      new Refusal("CROSS_SITE", "With the cookie, only this server's own page may change things."),
    );
  };
}

function unauthorised(): Response {
  return problem(new Refusal("UNAUTHORIZED", "This needs the token of the server."), {
    "www-authenticate": 'Bearer realm="millrace"',
  });
}

/** The digests have one length and tell nothing of where two tokens begin to differ. */
function isSame(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function bearerOf(context: Context): string | null {
  const header = context.req.header("authorization");
  if (header === undefined) return null;
  return /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? "";
}

/** Browsers send a host's cookies to all of its ports: two servers must not share a name. */
function cookieName(context: Context): string {
  return `millrace-${/:(\d+)$/.exec(hostOf(context))?.[1] ?? "80"}`;
}

/** Whatever the browser says about where a request comes from has to agree; silence is a no. */
function isOwnPage(context: Context): boolean {
  const origin = context.req.header("origin");
  const site = context.req.header("sec-fetch-site");
  if (origin === undefined && site === undefined) return false;
  const isOwnOrigin = origin === undefined || origin === `http://${hostOf(context)}`;
  return isOwnOrigin && (site === undefined || site === "same-origin");
}

function hostOf(context: Context): string {
  return (context.req.header("host") ?? new URL(context.req.url).host).toLowerCase();
}
