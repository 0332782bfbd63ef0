/** Text that a person types, kept by the browser tab: it survives an ended session and a reload. */
import { useState } from "preact/hooks";

/** The text, or null when none was typed, and the function that keeps another one. */
export function useKeptText(key: string): readonly [string | null, (text: string | null) => void] {
  const [, redraw] = useState(0);
  const keep = (text: string | null): void => {
    write(key, text);
    redraw((count) => count + 1);
  };
  return [read(key), keep];
}

/** Storage may be forbidden; then the text lasts as long as the page. */
const inPage = new Map<string, string>();

function read(key: string): string | null {
  return inPage.get(key) ?? stored(key);
}

function stored(key: string): string | null {
  try {
    return sessionStorage.getItem(`millrace.${key}`);
  } catch {
    return null;
  }
}

function write(key: string, text: string | null): void {
  if (text === null) inPage.delete(key);
  else inPage.set(key, text);
  try {
    if (text === null) sessionStorage.removeItem(`millrace.${key}`);
    else sessionStorage.setItem(`millrace.${key}`, text);
  } catch {
    // The page keeps it.
  }
}
