/** The cookie that holds the session of a browser. */
import { parse, serialize } from "hono/utils/cookie";
import { hostOf, type OriginRules } from "./origin.ts";

/** The secret of the session; null: the request has none. */
export function sessionSecret(request: Request): string | null {
  const name = cookieName(request);
  return parse(request.headers.get("cookie") ?? "", name)[name] ?? null;
}

/** The header that stores a session in the browser, or with `null` removes it. */
export function sessionCookie(
  request: Request,
  session: { readonly secret: string; readonly expires: Date } | null,
  { base, origin }: { readonly base: string; readonly origin: OriginRules },
): string {
  return serialize(cookieName(request), session?.secret ?? "", {
    httpOnly: true,
    sameSite: "Strict",
    secure: origin.publicUrl?.protocol === "https:",
    path: base === "" ? "/" : base,
    ...(session === null ? { maxAge: 0 } : { expires: session.expires }),
  });
}

/** Browsers send a cookie to all ports of a host, so that each server needs its own name. */
function cookieName(request: Request): string {
  return `millrace-${/:(\d+)$/.exec(hostOf(request))?.[1] ?? "session"}`;
}
