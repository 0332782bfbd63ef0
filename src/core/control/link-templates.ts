/** Templates of links from a job to other systems, such as a trace or the page of a user. */

/** How many templates there may be, and how long one is. */
export const LINKS_MAX = 20;
const LENGTH_MAX = 2_000;
const NAME_LENGTH_MAX = 50;

const PLACEHOLDER = /\{([^{}]*)\}/g;
/** Facts of a job, a tag, or a place in its payload. */
const KNOWN = /^(?:id|type|tenant|correlation_id|parent_id|tags\..+|payload(?:\.[^.]+)+)$/;

/** What is wrong with the name of a link, or null. */
export function linkNameFault(name: string): string | null {
  const isName = name.trim() !== "" && name.length <= NAME_LENGTH_MAX && !/\p{Cc}/u.test(name);
  return isName ? null : `the name of a link has 1 to ${NAME_LENGTH_MAX} characters`;
}

/** What is wrong with a template, or null. */
export function linkFault(template: string): string | null {
  if (template.length > LENGTH_MAX) return `a link has at most ${LENGTH_MAX} characters`;
  const unknown = [...template.matchAll(PLACEHOLDER)].find(([, name = ""]) => !KNOWN.test(name));
  if (unknown !== undefined) {
    return (
      `${unknown[0]} is not known: write {id}, {type}, {tenant}, {correlation_id}, {parent_id}, ` +
      "{tags.NAME} or {payload.PATH}"
    );
  }
  const filled = template.replaceAll(PLACEHOLDER, "x");
  if (/[{}]/.test(filled)) return "a brace is not closed, or not opened";
  if (!/^https?:\/\/./i.test(template) || !URL.canParse(filled)) {
    return "a link is a URL that begins with http:// or https://";
  }
  const { username, password } = new URL(filled);
  if (`${username}${password}` !== "") return "a link has no user and no password";
  // A payload must not decide to which server a person goes.
  const isHostChosen = /^https?:\/\/[^/?#]*\{/i.test(template);
  return isHostChosen ? "the host of a link has no placeholder" : null;
}
