/**
 * Access control. The server accepts only requests of this machine with its token: as a cookie that
 * a link has set, or as a Bearer token.
 *
 * Browsers send a cookie with requests of any page. With the cookie, requests that change something
 * must therefore come from the dashboard. A Bearer token needs no such check.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { problem, RequestRefusal } from "./problem.ts";

const OWN_NAMES = new Set(["localhost", "127.0.0.1", "[::1]"]);
const READING = new Set(["GET", "HEAD"]);

/** Refuses other host names, with which a foreign page could reach this machine (DNS rebinding). */
export function ownHostOnly(): MiddlewareHandler {
  return async (context, next) => {
    if (OWN_NAMES.has(hostOf(context).replace(/:\d+$/, ""))) return next();
    return problem(
      new RequestRefusal(
        "FOREIGN_HOST",
        "The server accepts only requests for localhost or 127.0.0.1.",
      ),
    );
  };
}

/** `/?token=…`: sets the cookie for a correct token, and redirects to remove the token. */
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

/** Refuses requests without the token. */
export function tokenOnly(token: string): MiddlewareHandler {
  return async (context, next) => {
    const bearer = bearerOf(context);
    if (bearer !== null) return isSame(bearer, token) ? next() : unauthorised();
    if (!isSame(getCookie(context, cookieName(context)) ?? "", token)) return unauthorised();
    if (READING.has(context.req.method) || isOwnPage(context)) return next();
    return problem(
      new RequestRefusal(
        "CROSS_SITE",
        "With the cookie, only the dashboard of this server may change anything.",
      ),
    );
  };
}

function unauthorised(): Response {
  return problem(new RequestRefusal("UNAUTHORIZED", "The request has no valid token."), {
    "www-authenticate": 'Bearer realm="millrace"',
  });
}

/** Compares digests, so that the time of the comparison reveals nothing about the token. */
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

/** Browsers send a cookie to all ports of a host, so that each server needs its own name. */
function cookieName(context: Context): string {
  return `millrace-${/:(\d+)$/.exec(hostOf(context))?.[1] ?? "80"}`;
}

/** True when the headers that browsers send say that the request comes from the dashboard. */
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
