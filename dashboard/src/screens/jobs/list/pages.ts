/**
 * The way to this page of a list. Cursors lead forward alone, so the pages before are kept for as
 * long as the tab lives; a shared address leads back to the first page.
 */

const KEY = "millrace.jobs.pages";

interface Way {
  readonly q: string;
  /** The cursor of each page; the first has none. */
  readonly cursors: readonly string[];
}

/** The cursors up to this page: `["", "a", "b"]` for the third page. */
export function wayTo(q: string, after: string | undefined): readonly string[] {
  if (after === undefined) return [""];
  const kept = read();
  const at = kept.q === q ? kept.cursors.indexOf(after) : -1;
  return at === -1 ? ["", after] : kept.cursors.slice(0, at + 1);
}

export function keepWay(q: string, cursors: readonly string[]): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ q, cursors }));
  } catch {
    // The page works without.
  }
}

function read(): Way {
  try {
    const { q, cursors } = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
    if (typeof q === "string" && Array.isArray(cursors)) return { q, cursors };
  } catch {
    // As if there were none.
  }
  return { q: "", cursors: [] };
}
