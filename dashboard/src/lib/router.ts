/**
 * The place in the page is the fragment of the address (`#/jobs?q=state:failed`): it needs nothing
 * from the server, so the page works under any path, and every view can be shared.
 */
import { computed, signal } from "@preact/signals";

export interface Place {
  /** Such as `["jobs", "01K9…"]`. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

const fragment = signal(location.hash);

addEventListener("hashchange", () => (fragment.value = location.hash));

export const place = computed(() => parsePlace(fragment.value));

function parsePlace(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return {
    path: path.split("/").filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** The address of a place. Empty values are left out. */
export function href(path: readonly string[] | string, query: object = {}): string {
  const parts = typeof path === "string" ? [path] : path;
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") params.set(name, String(value));
  }
  const tail = params.size === 0 ? "" : `?${params.toString()}`;
  return `#/${parts.map(encodeURIComponent).join("/")}${tail}`;
}

export function go(target: string): void {
  location.hash = target.replace(/^#/, "");
}

/** Changes the query of the present place, without a step in the history of the browser. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { path, query } = place.value;
  history.replaceState(null, "", href(path, { ...query, ...changes }));
  fragment.value = location.hash;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
