/** Reads the `@example` blocks out of documentation comments. */

export interface DocExample {
  /** File, line and name: enough to find it. */
  readonly place: string;
  /** The name that the comment documents. */
  readonly subject: string;
  readonly code: string;
}

export function examplesIn(path: string, text: string): readonly DocExample[] {
  return [...text.matchAll(/^[ \t]*\/\*\*.*?\*\//gms)]
    .filter(([comment]) => /^[ \t]*\* @example/m.test(comment))
    .map((match) => {
      const comment = match[0];
      const line = text.slice(0, match.index).split("\n").length;
      const subject = documentedName(text.slice(match.index + comment.length));
      const place = `${path}:${line} ${subject}`;
      return { place, subject, code: codeOf(comment, place) };
    });
}

/** The first name after the comment that is not a keyword of the declaration. */
function documentedName(after: string): string {
  const declaration =
    /^\s*(?:(?:export|declare|abstract|async|static|readonly|function|class|const)\s+)*([\w$]+)/;
  return declaration.exec(after)?.[1] ?? "";
}

function codeOf(comment: string, place: string): string {
  const plain = comment.replace(/^[ \t]*\* ?/gm, "");
  const code = /@example\s+```ts\n(.*?)^```/ms.exec(plain)?.[1];
  if (code === undefined) throw new Error(`${place}: the @example has no ts block`);
  return code;
}
