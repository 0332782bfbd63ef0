/** The list that a person came from, so that [ and ] lead to the jobs beside this one. */

export interface Neighbours {
  readonly ids: readonly string[];
  /** The query of the list. */
  readonly q: string;
}

const KEY = "millrace.jobs.list";

export function keepNeighbours(list: Neighbours): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(list));
  } catch {
    // The page works without.
  }
}

export function readNeighbours(): Neighbours {
  try {
    const { ids, q } = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
    if (Array.isArray(ids) && typeof q === "string") return { ids, q };
  } catch {
    // As if there were none.
  }
  return { ids: [], q: "" };
}
