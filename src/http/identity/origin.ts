/**
 * Which hosts and pages may reach the server.
 *
 * A page of another site can make a browser send requests, and with a name of its own that leads to
 * this machine it could read the answers (DNS rebinding). So the server answers only under its own
 * names, and requests that a browser signs by itself must come from its own pages.
 */
import { RequestRefusal } from "../problem.ts";

const LOOPBACK_NAMES = new Set(["localhost", "127.0.0.1", "[::1]"]);
const READING = new Set(["GET", "HEAD"]);

export interface OriginRules {
  /** The address under which users reach the server; null: the address of the request. */
  readonly publicUrl: URL | null;
  /**
   * `loopback`: only names of this machine and of `publicUrl`. `any`: the host application has
   * checked the name.
   */
  readonly hosts: "loopback" | "any";
  /** A proxy that is trusted has set X-Forwarded-Host. Otherwise the header is ignored. */
  readonly trustsProxy?: boolean;
}

/** Refuses host names that are not the server's own. */
export function insistOwnHost(request: Request, rules: OriginRules): void {
  const { publicUrl, hosts } = rules;
  const host = hostOf(request, rules);
  if (hosts === "any" && publicUrl === null) return;
  if (publicUrl !== null && host === publicUrl.host) return;
  if (hosts === "loopback" && LOOPBACK_NAMES.has(host.replace(/:\d+$/, ""))) return;
  const own = publicUrl === null ? "localhost or 127.0.0.1" : publicUrl.host;
  throw new RequestRefusal("FOREIGN_HOST", `The server answers only requests for ${own}.`);
}

/** Refuses a request that changes something, unless it comes from a page of the server. */
export function insistOwnPage(request: Request, rules: OriginRules): void {
  if (READING.has(request.method) || isOwnPage(request, rules)) return;
  throw new RequestRefusal(
    "CROSS_SITE",
    "With a cookie, only pages of this server may change anything.",
  );
}

/** True when the headers that browsers send say that the request comes from an own page. */
function isOwnPage(request: Request, rules: OriginRules): boolean {
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  if (origin === null && site === null) return false;
  const isOwnOrigin = origin === null || ownOrigins(request, rules).has(origin);
  return isOwnOrigin && (site === null || site === "same-origin");
}

function ownOrigins(request: Request, rules: OriginRules): ReadonlySet<string> {
  const { publicUrl } = rules;
  const host = hostOf(request, rules);
  if (publicUrl !== null && host === publicUrl.host) return new Set([publicUrl.origin]);
  return new Set([`${new URL(request.url).protocol}//${host}`]);
}

/** The name and the port that the caller has used. */
export function hostOf(request: Request, rules?: OriginRules): string {
  const forwarded = rules?.trustsProxy === true ? request.headers.get("x-forwarded-host") : null;
  const host = forwarded ?? request.headers.get("host") ?? new URL(request.url).host;
  return host.toLowerCase();
}
