/** A word of a command that may hold anything: quoted for a POSIX shell. Pure. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** What a person runs in a terminal. */
export function drainCommand(kind: "lane" | "type", name: string): string {
  return `npx millrace drain --${kind} ${shellWord(name)} --reason "maintenance"`;
}
