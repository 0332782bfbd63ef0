/** The frames of a stack: one's own, and those of libraries, which are folded. Pure. */

export interface Frame {
  readonly name: string;
  /** File, line and column. */
  readonly at: string;
}

/** Frames of one's own code, or a run of frames of libraries and Node. */
export type FrameGroup =
  | { readonly kind: "own"; readonly frame: Frame; readonly number: number }
  | { readonly kind: "others"; readonly frames: readonly Frame[]; readonly number: number };

const FRAME = /^\s*at (?:(?:async )?(.+?) \((.+)\)|(?:async )?(.+))$/;
/** `index 2` is a frame of `Promise.all`. */
const OTHERS = /node_modules[\\/]|^node:|^internal[\\/]|^<anonymous>$|^native$|^index \d+$/;

export function framesOf(stack: string): readonly FrameGroup[] {
  const groups: FrameGroup[] = [];
  let number = 0;
  for (const line of stack.split("\n")) {
    const [, name, at, place] = FRAME.exec(line) ?? [];
    if (at === undefined && place === undefined) continue;
    number += 1;
    const frame = { name: name ?? "(anonymous)", at: shortened(at ?? place ?? "") };
    const last = groups.at(-1);
    if (!OTHERS.test(frame.at)) groups.push({ kind: "own", frame, number });
    else if (last?.kind === "others")
      groups[groups.length - 1] = { ...last, frames: [...last.frames, frame] };
    else groups.push({ kind: "others", frames: [frame], number });
  }
  return groups;
}

function shortened(at: string): string {
  return at.replace(/^file:\/\//, "");
}
