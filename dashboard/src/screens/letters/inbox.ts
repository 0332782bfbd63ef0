/** What the list of the inbox shows: causes with the letters of one of them, or letters by time. */
import { useRef } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { DeadLetter, FailureGroup } from "../../api/operations.gen.ts";
import { useSteady, type Steady } from "../../lib/steady.ts";
import { useResource, type Resource } from "../../live/resource.ts";
import { chosenGroups } from "../failures/status.ts";
import { isByCause, newestFirst, letterFilter, type LetterFilter, type Query } from "./filter.ts";

type LetterPage = { readonly deadLetters: readonly DeadLetter[]; readonly next: string | null };

export interface Inbox {
  /** Changes when another list is shown. */
  readonly key: string;
  readonly isByCause: boolean;
  readonly groups: Steady<FailureGroup>;
  /** The cause whose letters are shown. */
  readonly chosen: FailureGroup | undefined;
  readonly letters: Steady<DeadLetter>;
  /** The `after` of the next page. */
  readonly next: string | null;
  readonly source: Resource<unknown>;
  reload(): Promise<void>;
}

const PAGE = 50;
const UNDER_CAUSE = 8;
const OPEN = ["pending_review", "acknowledged"] as const;
export function useInbox(query: Query): Inbox {
  const byCause = isByCause(query);
  const on = { on: ["job:failed", "job:deleted"], everyMs: 30_000 };
  const { tenant } = query;
  const groupKey = `inbox-groups ${byCause} ${tenant ?? ""}`;
  const found = useResource(
    groupKey,
    async (signal) =>
      byCause
        ? call("listFailures", { query: { limit: 100, ...(tenant ? { tenant } : {}) }, signal })
        : { failures: [] },
    on,
  );
  const all = found.data.value?.failures ?? null;
  const groups = useSteady(
    `${groupKey} ${query["type"] ?? ""}`,
    all === null ? null : chosenGroups(all, { type: query["type"] }),
    ({ cause }) => cause,
  );
  const cause = useCause(groupKey, byCause, query["cause"], groups.rows);
  const filter = letterFilter(cause === undefined ? query : { ...query, cause });
  const isWaiting = byCause && cause === undefined;
  const key = `inbox-letters ${byCause} ${JSON.stringify(filter)}`;
  const pages = useResource<LetterPage>(
    key,
    async (signal) => {
      if (isWaiting) return { deadLetters: [], next: null };
      if (byCause) return openLetters(filter, signal);
      return call("listDeadLetters", { query: { ...filter, limit: PAGE }, signal });
    },
    on,
  );
  const letters = useSteady(
    key,
    pages.data.value?.deadLetters ?? null,
    ({ id }) => id,
    (row, last) => newestFirst(row, last) > 0,
  );
  return {
    key,
    isByCause: byCause,
    groups,
    chosen: groups.rows.find((group) => group.cause === cause),
    letters,
    next: pages.data.value?.next ?? null,
    source: byCause ? found : pages,
    reload: async () => {
      await Promise.all([found.reload(), pages.reload()]);
    },
  };
}

/** A group counts the letters that are open, and these are of two statuses. */
async function openLetters(filter: LetterFilter, signal: AbortSignal): Promise<LetterPage> {
  const statuses = filter.status === undefined ? OPEN : [filter.status];
  const pages = await Promise.all(
    statuses.map((status) =>
      call("listDeadLetters", { query: { ...filter, status, limit: UNDER_CAUSE }, signal }),
    ),
  );
  const deadLetters = pages
    .flatMap((page) => page.deadLetters)
    .toSorted(newestFirst)
    .slice(0, UNDER_CAUSE);
  return { deadLetters, next: null };
}

/** The cause of the address, else the first one that was shown. */
function useCause(
  key: string,
  byCause: boolean,
  wanted: string | undefined,
  groups: readonly FailureGroup[],
): string | undefined {
  const first = useRef<{ key: string; cause: string | undefined }>({ key: "", cause: undefined });
  const isLeft = groups.some(({ cause }) => cause === first.current.cause);
  if (first.current.key !== key || !isLeft) first.current = { key, cause: groups[0]?.cause };
  return byCause ? (wanted ?? first.current.cause) : wanted;
}
