/** Entity tags: a caller that has the current text of a resource is told so, without the text. */
import { createHash } from "node:crypto";

const JSON_TYPE = { "content-type": "application/json" };
/** A browser keeps the text, and asks each time whether it is current. */
const CACHED = { "cache-control": "private, no-cache" };

/** The JSON with its tag. */
export function withTag(body: string): Response {
  return new Response(body, { headers: { ...JSON_TYPE, ...CACHED, etag: tagOf(body) } });
}

/** The answer 304 if the caller has this text; null: it has not. */
export function matches(ifNoneMatch: string | undefined, body: string): Response | null {
  const etag = tagOf(body);
  const known = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (!known.includes(etag) && !known.includes("*")) return null;
  return new Response(null, { status: 304, headers: { ...CACHED, etag } });
}

function tagOf(body: string): string {
  return `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
}
