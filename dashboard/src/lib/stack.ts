/** Stacks of errors, cut into what the application wrote and what it called. Pure. */

export interface StackPart {
  /** `head`: messages; `own`: frames of the application; `other`: those of Node and packages. */
  readonly kind: "head" | "own" | "other";
  readonly lines: readonly string[];
}

/** Neighbours of one kind are one part, so that a screen can fold the frames of others. */
export function stackParts(stack: string): readonly StackPart[] {
  const parts: { kind: StackPart["kind"]; lines: string[] }[] = [];
  for (const line of stack.split("\n")) {
    const kind = kindOf(line);
    const last = parts.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else parts.push({ kind, lines: [line] });
  }
  return parts;
}

/** The frame of the application that is nearest to the mistake, without "at"; or null. */
export function ownFrame(stack: string | undefined): string | null {
  const line = (stack ?? "").split("\n").find((each) => kindOf(each) === "own");
  return line === undefined ? null : line.trim().slice("at ".length).replace("file://", "");
}

function kindOf(line: string): StackPart["kind"] {
  if (!/^\s+at /.test(line)) return "head";
  const isOther =
    /[(\s](?:async )?(?:node:|internal\/|native\b|<anonymous>)|[/\\]node_modules[/\\]/.test(line);
  return isOther || !/[/\\]/.test(line) ? "other" : "own";
}
