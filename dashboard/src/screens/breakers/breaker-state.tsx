/** The states of a breaker: a switch that is closed, half open or open; with its word. */
import type { JSX } from "preact";
import type { BreakerState } from "./day.ts";

const WORDS: Readonly<Record<BreakerState, string>> = {
  closed: "Closed",
  half_open: "Half open",
  open: "Open",
};

const TONES: Readonly<Record<BreakerState, string>> = {
  closed: "completed",
  half_open: "completed_with_errors",
  open: "failed",
};

const LINES: Readonly<Record<BreakerState, string>> = {
  closed: "M1 8h14",
  half_open: "M1 8h4l5.5-2.2M11 8h4",
  open: "M1 8h4l4.5-5M11 8h4",
};

function BreakerShape({ state }: { state: BreakerState }): JSX.Element {
  return (
    <svg class="shape breaker-shape" viewBox="0 0 16 16" aria-hidden="true">
      <path class="ln" d={LINES[state]} />
      <circle class="fl" cx="5" cy="8" r="1.6" />
      <circle class="fl" cx="11" cy="8" r="1.6" />
    </svg>
  );
}

export function BreakerPill({ state }: { state: BreakerState }): JSX.Element {
  return (
    <span class={`state pill st-${TONES[state]}`}>
      <BreakerShape state={state} />
      <span>{WORDS[state]}</span>
    </span>
  );
}

export function breakerWord(state: BreakerState): string {
  return WORDS[state];
}
