/** The stack of an error: own frames stand out, frames of Node and of dependencies are folded. */
import type { JSX } from "preact";
import { stackParts, type StackPart } from "../lib/stack.ts";
import { plural } from "../lib/format.ts";
import { CopyButton } from "./basics.tsx";
import "./stack.css";

export function Stack({ text }: { text: string }): JSX.Element {
  return (
    <div class="stack-frame">
      <div class="stack-lines" tabIndex={0} role="region" aria-label="Stack">
        {stackParts(text).map((part, index) => (
          <Part key={index} part={part} />
        ))}
      </div>
      <CopyButton text={text} label="Copy the stack" />
    </div>
  );
}

function Part({ part: { kind, lines } }: { part: StackPart }): JSX.Element {
  if (kind !== "other") return <pre class={kind}>{lines.join("\n")}</pre>;
  return (
    <details>
      <summary>{plural(lines.length, "frame")} of Node and dependencies</summary>
      <pre>{lines.join("\n")}</pre>
    </details>
  );
}
