/** A word without characters that are special in a shell. */
const PLAIN_WORD = /^[\w./:][\w@%+=:,./-]*$/;

/**
 * A word of a printed command, quoted if it has characters that are special in a shell.
 */
export function shellWord(text: string): string {
  if (PLAIN_WORD.test(text)) return text;
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
