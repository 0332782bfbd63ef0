/** How a dead letter is named, and what its status is called. */
import type { JSX } from "preact";
import type { DeadLetter } from "../../api/operations.gen.ts";
import { shortId } from "../../lib/format.ts";
import { StateShape, type StateName } from "../../parts/state.tsx";
import { payloadHint } from "./draft.ts";

export type LetterStatus = DeadLetter["status"];

export const LETTER_WORDS: Readonly<Record<LetterStatus, string>> = {
  pending_review: "To review",
  acknowledged: "Acknowledged",
  reprocessed: "Reprocessed",
  discarded: "Discarded",
};

const SHAPES: Readonly<Record<LetterStatus, StateName>> = {
  pending_review: "failed",
  acknowledged: "queued",
  reprocessed: "completed",
  discarded: "cancelled",
};

export function LetterState({ status }: { status: LetterStatus }): JSX.Element {
  return (
    <span class={`state pill st-${SHAPES[status]}`}>
      <StateShape state={SHAPES[status]} />
      <span>{LETTER_WORDS[status]}</span>
    </span>
  );
}

/** The mark in front of a letter of the list: full, ring, tick or struck. */
export function LetterMark({ status }: { status: LetterStatus }): JSX.Element {
  return (
    <span class="letter-mark" title={LETTER_WORDS[status]}>
      {isOpen({ status }) ? (
        <i class={status} aria-hidden="true" />
      ) : (
        <StateShape state={SHAPES[status]} />
      )}
      <span class="sr">{LETTER_WORDS[status]}: </span>
    </span>
  );
}

/** People know a job by its payload; a role that may not read it sees the id. */
export function letterTitle(letter: DeadLetter): string {
  const hint = payloadHint(letter.payload);
  return hint === "" ? `${letter.type} ${shortId(letter.id)}` : hint;
}

export function isOpen({ status }: Pick<DeadLetter, "status">): boolean {
  return status === "pending_review" || status === "acknowledged";
}
