/** The difference of two texts, line by line, with the changed part of each line. Pure. */

export interface DiffLine {
  readonly kind: "same" | "del" | "ins";
  readonly text: string;
  /** Numbers of the line in the text before and after, from 1; null: not in that text. */
  readonly before: number | null;
  readonly after: number | null;
  /** The part that differs from the line it replaces. */
  readonly mark?: { readonly from: number; readonly to: number };
}

/** Lines without a change that are not shown. */
export interface DiffGap {
  readonly kind: "gap";
  readonly count: number;
}

/** Larger middles are shown as one replacement: the table of the comparison would be too large. */
const CELLS_MAX = 4_000_000;
const CONTEXT = 3;

export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [one, other] = [before.split("\n"), after.split("\n")];
  const head = commonCount(one, other);
  const tail = commonCount(one.slice(head).toReversed(), other.slice(head).toReversed());
  const lines: DiffLine[] = [];
  const same = (at: number, shift: number): void => {
    lines.push({ kind: "same", text: one[at] ?? "", before: at + 1, after: at + 1 + shift });
  };
  for (let at = 0; at < head; at++) same(at, 0);
  const [oneEnd, otherEnd] = [one.length - tail, other.length - tail];
  for (const step of steps(one.slice(head, oneEnd), other.slice(head, otherEnd))) {
    lines.push({
      ...step,
      before: step.before === null ? null : step.before + head,
      after: step.after === null ? null : step.after + head,
    });
  }
  for (let at = oneEnd; at < one.length; at++) same(at, other.length - one.length);
  return marked(lines);
}

/** How many places differ: neighbouring changed lines are one place. */
export function changeCount(lines: readonly DiffLine[]): number {
  return lines.filter(
    ({ kind }, at) => kind !== "same" && (lines[at - 1]?.kind ?? "same") === "same",
  ).length;
}

/** The lines around the changes, with gaps instead of the rest. */
export function shortened(
  lines: readonly DiffLine[],
  context: number = CONTEXT,
): readonly (DiffLine | DiffGap)[] {
  const isNear = (at: number): boolean =>
    lines.slice(Math.max(0, at - context), at + context + 1).some(({ kind }) => kind !== "same");
  const shown: (DiffLine | DiffGap)[] = [];
  let hidden: DiffLine[] = [];
  const close = (): void => {
    // A gap of one line is no shorter than the line.
    if (hidden.length > 1) shown.push({ kind: "gap", count: hidden.length });
    else shown.push(...hidden);
    hidden = [];
  };
  for (const [at, line] of lines.entries()) {
    if (!isNear(at)) {
      hidden.push(line);
      continue;
    }
    close();
    shown.push(line);
  }
  close();
  return shown;
}

function commonCount(one: readonly string[], other: readonly string[]): number {
  let count = 0;
  while (count < one.length && count < other.length && one[count] === other[count]) count += 1;
  return count;
}

/** Removed lines stand before the lines that replace them. */
function steps(one: readonly string[], other: readonly string[]): readonly DiffLine[] {
  const isLarge = one.length * other.length > CELLS_MAX;
  const kept = isLarge ? [] : longestCommon(one, other);
  const lines: DiffLine[] = [];
  let [at, to] = [0, 0];
  for (const [keptAt, keptTo] of [...kept, [one.length, other.length] as const]) {
    for (; at < keptAt; at++) {
      lines.push({ kind: "del", text: one[at] ?? "", before: at + 1, after: null });
    }
    for (; to < keptTo; to++) {
      lines.push({ kind: "ins", text: other[to] ?? "", before: null, after: to + 1 });
    }
    if (at >= one.length || to >= other.length) continue;
    lines.push({ kind: "same", text: one[at] ?? "", before: at + 1, after: to + 1 });
    at += 1;
    to += 1;
  }
  return lines;
}

/** The pairs of places of a longest common subsequence. */
function longestCommon(
  one: readonly string[],
  other: readonly string[],
): readonly (readonly [number, number])[] {
  const width = other.length + 1;
  const lengths = new Uint32Array((one.length + 1) * width);
  const cell = (at: number, to: number): number => lengths[at * width + to] ?? 0;
  for (let at = one.length - 1; at >= 0; at--) {
    for (let to = other.length - 1; to >= 0; to--) {
      const isSame = one[at] === other[to];
      lengths[at * width + to] = isSame
        ? cell(at + 1, to + 1) + 1
        : Math.max(cell(at + 1, to), cell(at, to + 1));
    }
  }
  const pairs: [number, number][] = [];
  let [at, to] = [0, 0];
  while (at < one.length && to < other.length) {
    if (one[at] === other[to]) pairs.push([at++, to++]);
    else if (cell(at + 1, to) >= cell(at, to + 1)) at += 1;
    else to += 1;
  }
  return pairs;
}

/** Marks the changed part where as many lines were added as removed. */
function marked(lines: readonly DiffLine[]): readonly DiffLine[] {
  const done: DiffLine[] = [...lines];
  for (let at = 0; at < lines.length; at++) {
    if (lines[at]?.kind !== "del") continue;
    const removed = runOf(lines, at, "del");
    const added = runOf(lines, at + removed, "ins");
    if (removed === added) {
      for (let n = 0; n < removed; n++) markPair(done, at + n, at + removed + n);
    }
    at += removed + added - 1;
  }
  return done;
}

function runOf(lines: readonly DiffLine[], from: number, kind: DiffLine["kind"]): number {
  let count = 0;
  while (lines[from + count]?.kind === kind) count += 1;
  return count;
}

function markPair(lines: DiffLine[], oneAt: number, otherAt: number): void {
  const [one, other] = [lines[oneAt], lines[otherAt]];
  if (one === undefined || other === undefined) return;
  const [from, end] = [Array.from(one.text), Array.from(other.text)];
  const head = commonCount(from, end);
  const tail = commonCount(from.slice(head).toReversed(), end.slice(head).toReversed());
  const start = from.slice(0, head).join("").length;
  const rest = tail === 0 ? 0 : from.slice(-tail).join("").length;
  lines[oneAt] = { ...one, mark: { from: start, to: one.text.length - rest } };
  lines[otherAt] = { ...other, mark: { from: start, to: other.text.length - rest } };
}
