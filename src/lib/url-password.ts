/** Detects an unescaped slash, question mark or hash in the password of a URL. */

/** The hint for such a URL. */
export const ESCAPE_PASSWORD =
  "the URL has an @ after the host: write / ? # and @ in a password as %2F %3F %23 and %40";

/** True when the part after the host of a URL may be the rest of a password. */
export function hasUnescapedPassword(url: string): boolean {
  const { pathname, search, hash } = new URL(url);
  return `${pathname}${search}${hash}`.includes("@");
}
