/** Rows that have come since the list was drawn: they wait until a person asks for them. */
import type { JSX } from "preact";
import { numberText } from "../lib/format.ts";
import { Button } from "./basics.tsx";
import "./new-rows.css";

export function NewRows(props: { count: number; show: () => void }): JSX.Element | null {
  if (props.count === 0) return null;
  return (
    <div class="new-rows" role="status">
      <Button icon="up" kind="quiet" onClick={props.show}>
        {numberText(props.count)} new
      </Button>
    </div>
  );
}
