/** Reads lists that are longer than a page of a server. */

/** The largest page of a server. */
const PAGE_MAX = 200;

/** One page of a list; `next` is the `after` of the following page. */
interface Page<Entry, Place> {
  readonly entries: readonly Entry[];
  readonly next: Place | null;
}

/** Up to `limit` entries, from as many pages as needed; without a limit, the first page. */
export async function readPages<Entry, Place>(
  given: { readonly limit?: number | undefined; readonly after?: Place | undefined },
  read: (page: { limit?: number; after?: Place }) => Promise<Page<Entry, Place>>,
): Promise<Page<Entry, Place>> {
  const { limit, after } = given;
  if (limit === undefined) return read(after === undefined ? {} : { after });
  const entries: Entry[] = [];
  let next: Place | null | undefined = after;
  do {
    const size = Math.min(limit - entries.length, PAGE_MAX);
    const from: { after?: Place } = next === undefined ? {} : { after: next };
    const page: Page<Entry, Place> = await read({ limit: size, ...from });
    entries.push(...page.entries);
    next = page.next;
  } while (next !== null && entries.length < limit);
  return { entries, next };
}
