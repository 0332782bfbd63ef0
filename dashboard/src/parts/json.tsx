/** JSON as it is stored, indented and coloured. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { bytesText } from "../lib/format.ts";
import { markedNumber } from "../lib/inexact.ts";
import { indented, jsonParts } from "../lib/json-text.ts";
import { Button, CopyButton } from "./basics.tsx";

/** Longer texts are cut in the view, and copied whole. */
const SHOWN_MAX = 50_000;

export function Json(props: {
  text: string;
  label: string;
  /** The text was made from a value: numbers that have lost digits are marked. */
  isRead?: boolean;
}): JSX.Element {
  const { text, label, isRead = false } = props;
  const [isWhole, setWhole] = useState(false);
  const isCut = text.length > SHOWN_MAX && !isWhole;
  const parts = jsonParts(isCut ? text.slice(0, SHOWN_MAX) : text);
  return (
    <div class="snippet">
      <pre class="json" tabIndex={0} aria-label={label}>
        <code>
          {parts.map((part, index) => (
            <span key={index} class={part.kind}>
              {isRead && part.kind === "number" ? markedNumber(part.text) : part.text}
            </span>
          ))}
          {isCut && "\n…"}
        </code>
      </pre>
      <CopyButton text={indented(text)} label={`Copy ${label}`} />
      {isCut && (
        <Button kind="quiet" onClick={() => setWhole(true)}>
          Show all {bytesText(text.length)}
        </Button>
      )}
    </div>
  );
}

/** A value of an answer: {@link Json} shows a stored text with all its digits. */
export function JsonValue({ value, label }: { value: unknown; label: string }): JSX.Element {
  return <Json text={JSON.stringify(value) ?? "null"} label={label} isRead />;
}
