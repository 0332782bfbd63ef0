/** Reads the code blocks, links and headings of a Markdown page. */

/** A fenced block, and what the HTML comments right above it say about it. */
export interface Block {
  /** The line of its fence, counted from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** `<!-- not run: REASON -->`: the block is shown, not run and not compared. */
  readonly notRun: string | null;
  /** `<!-- wait for: TEXT -->`: the block runs when the `sh` block before it has printed TEXT. */
  readonly waitFor: string | null;
  /** `<!-- setup: CODE -->`: code that a reader does not need to see, put in front of the block. */
  readonly setup: string;
  /** `<!-- then: CODE -->`: the same behind the block. */
  readonly behind: string;
}

export interface Link {
  readonly line: number;
  readonly target: string;
}

const FENCE = /^```(\w*)\s*$/;
const COMMENT = /^<!--\s*(not run|wait for|setup|then):\s*([\s\S]*?)\s*-->$/;
const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g;

export function blocksOf(page: string): readonly Block[] {
  const lines = page.split("\n");
  const blocks: Block[] = [];
  let said = new Map<string, string>();
  for (let at = 0; at < lines.length; at += 1) {
    const text = lines[at] ?? "";
    const language = FENCE.exec(text)?.[1];
    if (language !== undefined) {
      const end = endOf(lines, at, (each) => each === "```");
      const code = lines.slice(at + 1, end).join("\n");
      blocks.push({ line: at + 1, language, code: `${code}\n`, ...directives(said) });
      said = new Map();
      at = end;
    } else if (text.startsWith("<!--")) {
      const end = endOf(lines, at, (each) => each.endsWith("-->"));
      const [, name = "", value = ""] = COMMENT.exec(lines.slice(at, end + 1).join("\n")) ?? [];
      if (name !== "") said.set(name, value);
      at = end;
    } else if (text.trim() !== "") said = new Map();
  }
  return blocks;
}

function endOf(lines: readonly string[], start: number, isEnd: (line: string) => boolean): number {
  const isOneLine = isEnd(lines[start] ?? "") && lines[start] !== "```";
  const end = isOneLine ? start : lines.findIndex((line, at) => at > start && isEnd(line));
  if (end === -1) throw new Error(`line ${start + 1}: a block or comment has no end`);
  return end;
}

function directives(said: ReadonlyMap<string, string>): Omit<Block, "line" | "language" | "code"> {
  const code = (name: string): string => (said.has(name) ? `${said.get(name)}\n` : "");
  return {
    notRun: said.get("not run") ?? null,
    waitFor: said.get("wait for") ?? null,
    setup: code("setup"),
    behind: code("then"),
  };
}

/** The links of a page, outside of code. */
export function linksOf(page: string): readonly Link[] {
  return proseOf(page).flatMap(({ line, text }) =>
    [...text.replaceAll(/`[^`]*`/g, "").matchAll(LINK)].map(([, target = ""]) => ({
      line,
      target,
    })),
  );
}

/** The anchors of the headings, as they are made on code hosts. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const { text } of proseOf(page)) {
    const title = /^#{1,6} (.+)$/.exec(text)?.[1];
    if (title !== undefined) anchors.add(anchorOf(title));
  }
  return anchors;
}

function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

function proseOf(page: string): readonly { readonly line: number; readonly text: string }[] {
  let isCode = false;
  return page.split("\n").flatMap((text, at) => {
    const isFence = text.startsWith("```");
    if (isFence) isCode = !isCode;
    return isCode || isFence ? [] : [{ line: at + 1, text }];
  });
}

/** The rows of the tables of a page, headings included, as trimmed cells. */
export function rowsOf(page: string): readonly (readonly string[])[] {
  return proseOf(page)
    .filter(({ text }) => text.startsWith("|") && !/^[|\s:-]+$/.test(text))
    .map(({ text }) =>
      text
        .slice(1, text.lastIndexOf("|"))
        .split("|")
        .map((cell) => cell.trim()),
    );
}
