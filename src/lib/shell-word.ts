/** Nothing in such a word means anything to a shell. */
const PLAIN_WORD = /^[\w./:][\w@%+=:,./-]*$/;

/**
 * A word of a command that is printed to be copied: quoted where a shell would read more into it
 * than was written.
 */
export function shellWord(text: string): string {
  if (PLAIN_WORD.test(text)) return text;
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
