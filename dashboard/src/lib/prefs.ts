/** What a person prefers, kept in the browser. */
import { effect, signal, type Signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
export type Zone = "local" | "utc";
export type Density = "normal" | "compact" | "roomy";

export const theme = stored<Theme>("theme", "system");
export const zone = stored<Zone>("zone", "local");
export const density = stored<Density>("density", "normal");

/** Writes the preferences to the document, now and whenever they change. */
export function applyPrefs(): void {
  const { dataset } = document.documentElement;
  effect(() => {
    if (theme.value === "system") delete dataset["theme"];
    else dataset["theme"] = theme.value;
  });
  effect(() => {
    if (density.value === "normal") delete dataset["density"];
    else dataset["density"] = density.value;
  });
}

const THEMES: readonly Theme[] = ["system", "light", "dark"];

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
}

/** A signal that the browser remembers. Without storage, it lasts as long as the page. */
export function stored<Value>(name: string, first: Value): Signal<Value> {
  const key = `millrace.${name}`;
  const kept = signal<Value>(read(key) ?? first);
  effect(() => {
    try {
      localStorage.setItem(key, JSON.stringify(kept.value));
    } catch {
      // The page works without.
    }
  });
  return kept;
}

function read(key: string): any {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}
