/** The difference of two payloads. */
import type { JSX } from "preact";
import { plural } from "../../lib/format.ts";
import { shortened, type DiffGap, type DiffLine } from "./diff.ts";

const SIGNS: Readonly<Record<DiffLine["kind"], string>> = { same: " ", del: "−", ins: "+" };
const NAMES: Readonly<Record<DiffLine["kind"], string>> = {
  same: "",
  del: "Removed",
  ins: "Added",
};

export function DiffView({ lines }: { lines: readonly DiffLine[] }): JSX.Element {
  return (
    <div class="diff" tabIndex={0} role="region" aria-label="Changes to the payload">
      {shortened(lines).map((line, index) =>
        line.kind === "gap" ? <Gap key={index} of={line} /> : <Line key={index} of={line} />,
      )}
    </div>
  );
}

function Gap({ of: { count } }: { of: DiffGap }): JSX.Element {
  return <div class="gap">… {plural(count, "line")} without a change</div>;
}

function Line({ of: line }: { of: DiffLine }): JSX.Element {
  const { kind, text, mark } = line;
  return (
    <div class={kind}>
      <span>{line.before}</span>
      <span>{line.after}</span>
      <span aria-hidden="true">{SIGNS[kind]}</span>
      <span>
        {kind !== "same" && <span class="sr">{NAMES[kind]}: </span>}
        {mark === undefined ? (
          text
        ) : (
          <>
            {text.slice(0, mark.from)}
            <mark>{text.slice(mark.from, mark.to)}</mark>
            {text.slice(mark.to)}
          </>
        )}
      </span>
    </div>
  );
}
