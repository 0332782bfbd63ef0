/**
 * What a saved view of Jobs keeps as its query: the text of the query bar, or with chosen columns
 * the query of an address, `?q=state:failed&cols=state,job`. Pure.
 */

export interface SavedQuery {
  readonly q: string;
  /** Undefined: the columns that each person has chosen. */
  readonly cols: string | undefined;
}

export function savedText({ q, cols }: SavedQuery): string {
  if (cols === undefined && !q.startsWith("?")) return q;
  return `?${new URLSearchParams({ q, ...(cols === undefined ? {} : { cols }) }).toString()}`;
}

export function savedQuery(text: string): SavedQuery {
  if (!text.startsWith("?")) return { q: text, cols: undefined };
  const params = new URLSearchParams(text);
  return { q: params.get("q") ?? "", cols: params.get("cols") ?? undefined };
}
