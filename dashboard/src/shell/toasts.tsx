/** The messages at the lower edge. Failures are announced at once, successes when it fits. */
import type { JSX } from "preact";
import { closeToast, toasts } from "../lib/toasts.ts";
import { Button } from "../parts/basics.tsx";
import { StateShape } from "../parts/state.tsx";

export function Toasts(): JSX.Element {
  return (
    <div class="toasts">
      {toasts.value.map(({ id, tone, title, text, link }) => (
        <div key={id} class={`toast ${tone}`} role={tone === "bad" ? "alert" : "status"}>
          <StateShape state={tone === "bad" ? "failed" : "completed"} />
          <div>
            <b>{title}</b>
            {text !== undefined && <p>{text}</p>}
          </div>
          {link !== undefined && <a href={link.href}>{link.text}</a>}
          <Button kind="quiet" icon="close" label="Close" onClick={() => closeToast(id)} />
        </div>
      ))}
    </div>
  );
}
