/** A slash, a question mark or a hash in a password ends the host before its time. */

/** What to do about it. */
export const ESCAPE_PASSWORD =
  "an @ stands behind the host: write / ? # and @ in a password as %2F %3F %23 and %40";

/** Whether what comes behind the host of a URL may be the rest of a password. */
export function hasUnescapedPassword(url: string): boolean {
  const { pathname, search, hash } = new URL(url);
  return `${pathname}${search}${hash}`.includes("@");
}
