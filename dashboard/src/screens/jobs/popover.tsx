/** Something that opens below a button, and closes when a person turns to something else. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../../lib/keys.ts";

export function Popover(props: {
  class: string;
  /** What the button shows. */
  summary: ComponentChildren;
  children: ComponentChildren;
}): JSX.Element {
  const frame = useRef<HTMLDetailsElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (!isOpen) return;
    const leave = ({ target }: Event): void => {
      if (target instanceof Node && frame.current?.contains(target) !== true) setOpen(false);
    };
    addEventListener("pointerdown", leave);
    addEventListener("focusin", leave);
    return () => {
      removeEventListener("pointerdown", leave);
      removeEventListener("focusin", leave);
    };
  }, [isOpen]);
  return (
    <details
      ref={frame}
      class={props.class}
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary class="btn">{props.summary}</summary>
      {isOpen && (
        <>
          <CloseKey
            close={() => {
              setOpen(false);
              frame.current?.querySelector("summary")?.focus();
            }}
          />
          {props.children}
        </>
      )}
    </details>
  );
}

/** Escape closes what is open, before it leaves the page. */
function CloseKey({ close }: { close: () => void }): null {
  useKeys({ Escape: close });
  return null;
}
