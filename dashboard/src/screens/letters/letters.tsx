/** Dead letters: an inbox. The list at the left, the letter at the right; on narrow screens two pages. */
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { call, type AnswerOf } from "../../api/client.ts";
import { durationText, numberText } from "../../lib/format.ts";
import { now } from "../../lib/now.ts";
import { href, setQuery } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { useResource } from "../../live/resource.ts";
import { Button, PageHead } from "../../parts/basics.tsx";
import { Filters, type Filter } from "../../parts/filters.tsx";
import { Empty } from "../../parts/notices.tsx";
import type { ScreenProps } from "../../shell/screens.ts";
import { askDiscard, askRetry } from "../failures/actions.tsx";
import { useInbox, type Inbox } from "./inbox.ts";
import { LetterView } from "./letter.tsx";
import "./letters.css";
import { LetterList } from "./list.tsx";
import { LETTER_WORDS } from "./words.tsx";

type Stats = AnswerOf<"getDeadLetterStats">;

export function Letters({ path: [id], query }: ScreenProps): JSX.Element {
  const stats = useResource("letter-stats", (signal) => call("getDeadLetterStats", { signal }), {
    on: ["job:failed", "job:deleted"],
  });
  const inbox = useInbox(query);
  const first = useFirst(inbox);
  const shown = id ?? first;
  const reload = async (): Promise<void> => {
    await Promise.all([inbox.reload(), stats.reload()]);
  };
  // Actions on a cause stand beside the letter: they must mean the cause of this letter.
  const tellCause = (cause: string): void => {
    const isLink = id !== undefined && query["cause"] === undefined;
    if (isLink && inbox.isByCause) setQuery({ cause });
  };
  return (
    <div class={`letters-screen ${id === undefined ? "at-list" : "at-letter"}`}>
      <PageHead title="Dead letters" {...subOf(stats.data.value)}>
        <CauseActions inbox={inbox} tenant={query["tenant"]} reload={reload} />
      </PageHead>
      <Filters
        label="Filter dead letters"
        query={query}
        reset={["after"]}
        of={filtersOf(stats.data.value, inbox.isByCause)}
      />
      <div class="inbox">
        <LetterList inbox={inbox} query={query} shown={shown} />
        {shown === undefined ? (
          <Empty title="No letter is chosen">The letter that you choose appears here.</Empty>
        ) : (
          <LetterView
            key={shown}
            id={shown}
            back={href("letters", query)}
            tellCause={tellCause}
            reload={reload}
          />
        )}
      </div>
    </div>
  );
}

/** The first letter of the list, once: a newer one does not push away what is being read. */
function useFirst(inbox: Inbox): string | undefined {
  const first = useRef<{ key: string; id: string | undefined }>({ key: "", id: undefined });
  if (first.current.key !== inbox.key || first.current.id === undefined) {
    first.current = { key: inbox.key, id: inbox.letters.rows[0]?.id };
  }
  return first.current.id;
}

function subOf(stats: Stats | null): { sub?: string } {
  if (stats === null) return {};
  const { pending_review: waiting } = stats.byStatus;
  if (waiting === 0) return { sub: "No letter waits for review" };
  const more = stats.atLeast ? "+" : "";
  const oldest = stats.oldestPendingAt;
  const age = oldest === null ? "" : `, oldest ${durationText(now.value - Date.parse(oldest))}`;
  return { sub: `${numberText(waiting)}${more} wait for review${age}` };
}

function filtersOf(stats: Stats | null, isByCause: boolean): readonly Filter[] {
  const named = (counts: Stats["byType"] | undefined): readonly (readonly [string, string])[] =>
    (counts ?? []).flatMap(({ name, count }) =>
      name === null ? [] : [[name, `${name} (${numberText(count)})`] as const],
    );
  return [
    { key: "status", label: "Status", options: Object.entries(LETTER_WORDS) },
    { key: "type", label: "Type", options: named(stats?.byType) },
    { key: "category", label: "Category", options: named(stats?.byCategory) },
    { key: "tenant", label: "Tenant" },
    { key: "assigned_to", label: "Assigned to" },
    // By cause, the list itself shows which one is open.
    ...(isByCause ? [] : [{ key: "cause", label: "Cause" }]),
  ];
}

function CauseActions(props: {
  inbox: Inbox;
  tenant: string | undefined;
  reload: () => Promise<void>;
}): JSX.Element | null {
  const { inbox, tenant, reload } = props;
  const { chosen: group } = inbox;
  if (group === undefined) return null;
  const scope = { group, tenant, reload };
  const count = `${numberText(group.count)}${group.atLeast ? "+" : ""}`;
  return (
    <>
      {may("discardFailure") && (
        <Button kind="danger" onClick={() => askDiscard(scope)}>
          Discard cause…
        </Button>
      )}
      {may("retryFailure") && (
        <Button icon="retry" onClick={() => askRetry(scope)}>
          Retry all {count}…
        </Button>
      )}
    </>
  );
}
