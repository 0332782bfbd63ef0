/** The map of the keyboard. */
import type { JSX } from "preact";
import { Button } from "../parts/basics.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { SCREENS } from "./screens.ts";

const GROUPS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    "Anywhere",
    [
      ["Help", "?"],
      ["Query bar", "/"],
      ["Palette", "Ctrl K"],
      ["Palette on a Mac", "⌘ K"],
      ["Pause live updates", "p"],
      ["Theme", "t"],
      ["Back, close", "Esc"],
    ],
  ],
  [
    "Go to, after g",
    [...SCREENS.map(({ name, key = "" }) => [name, key] as const), ["Types", "k"]],
  ],
  [
    "In a list",
    [
      ["Down, up", "j k"],
      ["Select", "x"],
      ["Select range", "⇧ x"],
      ["Open", "Enter"],
    ],
  ],
  [
    "On a job",
    [
      ["Retry", "r"],
      ["Cancel", "c"],
      ["Copy id", "y"],
      ["Previous, next", "[ ]"],
    ],
  ],
];

export function Help({ close }: { close: () => void }): JSX.Element {
  return (
    <Dialog title="Keyboard" close={close} wide foot={<Button onClick={close}>Close</Button>}>
      <div class="help">
        {GROUPS.map(([name, keys]) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {keys.map(([what, key]) => (
                <div key={what}>
                  <dt>{what}</dt>
                  <dd>
                    {key.split(" ").map((each) => (
                      <kbd key={each}>{each}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
