/**
 * The key `/` before the query bar is on the page. What is typed meanwhile is kept for the bar: as
 * single keys of the page, the letters would act on jobs.
 */
const WAIT_MS = 5_000;

let kept: { text: string; readonly until: number } | null = null;

/** From now on, letters are for the bar that appears. `now` is the time stamp of an event. */
export function awaitQueryBar(now: number): void {
  kept = { text: "", until: now + WAIT_MS };
}

/** What was typed for the bar that has appeared; null: nothing was meant for it. */
export function takeQueryFocus(): string | null {
  const text = kept?.text ?? null;
  kept = null;
  return text;
}

type Key = Pick<
  KeyboardEvent,
  "key" | "timeStamp" | "ctrlKey" | "metaKey" | "altKey" | "isComposing"
>;

/** Whether the key is for the bar that is to appear. Escape, and time, end the wait. */
export function isForQueryBar(event: Key): boolean {
  if (kept === null) return false;
  if (event.key === "Escape" || event.timeStamp > kept.until) {
    kept = null;
    return false;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  if (event.key.length === 1) kept.text += event.key;
  else if (event.key === "Backspace") kept.text = kept.text.slice(0, -1);
  else return false;
  return true;
}
