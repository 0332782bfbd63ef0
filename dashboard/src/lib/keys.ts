/**
 * Keys of the page. A screen registers its keys while it is shown; the newest registration wins.
 * No single key acts while a field has the focus, and none while a dialog is open.
 */
import { useLayoutEffect, useRef } from "preact/hooks";
import { isForQueryBar } from "./query-focus.ts";

/** A key such as `j`, `X` (shift and x), `Enter`, `g o` (one after the other) or `mod+k`. */
export type KeyMap = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const layers: { map: KeyMap; isModal: boolean }[] = [];
const SEQUENCE_MS = 1_200;
let first = { key: "", at: 0 };

/**
 * Keys while the component is shown. `isModal`: no key of the layers below acts.
 *
 * The layer comes and goes with the elements of the component. A passive effect would end after the
 * next frame: a dialog that is closed would swallow the keys that are pressed until then.
 */
export function useKeys(map: KeyMap, isModal = false): void {
  const layer = useRef({ map, isModal });
  layer.current.map = map;
  useLayoutEffect(() => {
    const { current } = layer;
    layers.push(current);
    return () => {
      layers.splice(layers.indexOf(current), 1);
    };
  }, []);
}

addEventListener("keydown", (event) => {
  const name = nameOf(event);
  if (name === null) return;
  if (isForQueryBar(event)) return event.preventDefault();
  const pair = event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${name}` : name;
  first = { key: name, at: event.timeStamp };
  const act = actionOf(pair) ?? actionOf(name);
  if (act === undefined) return;
  event.preventDefault();
  first = { key: "", at: 0 };
  act(event);
});

function actionOf(name: string): KeyMap[string] | undefined {
  for (const { map, isModal } of layers.toReversed()) {
    const act = map[name];
    if (act !== undefined || isModal) return act;
  }
  return undefined;
}

function nameOf(event: KeyboardEvent): string | null {
  if (event.isComposing || event.altKey) return null;
  if (event.ctrlKey || event.metaKey) return `mod+${event.key.toLowerCase()}`;
  if (event.key === "Escape") return "Escape";
  if (isField(event.target) || (event.key === "Enter" && isControl(event.target))) return null;
  return event.key;
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof Element && target.matches("input:not([type=checkbox]), textarea, select")
  );
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("a, button, summary, input");
}
