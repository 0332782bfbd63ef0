/** The list of the inbox. */
import type { JSX } from "preact";
import type { DeadLetter, FailureGroup } from "../../api/operations.gen.ts";
import { countText, durationText } from "../../lib/format.ts";
import { useKeys } from "../../lib/keys.ts";
import { go, href, setQuery } from "../../lib/router.ts";
import { settings } from "../../lib/session.ts";
import { ButtonLink, Choice, Time } from "../../parts/basics.tsx";
import { NewRows } from "../../parts/new-rows.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { GroupStatus, Trend } from "../failures/parts.tsx";
import { errorTitle } from "../failures/status.ts";
import type { Query } from "./filter.ts";
import type { Inbox } from "./inbox.ts";
import { LetterMark, letterTitle } from "./words.tsx";

export interface ListProps {
  readonly inbox: Inbox;
  readonly query: Query;
  /** The id of the letter at the right. */
  readonly shown: string | undefined;
}

export function LetterList(props: ListProps): JSX.Element {
  const { inbox, query, shown } = props;
  const { letters, groups } = inbox;
  useKeys({
    j: () => move(props, 1),
    k: () => move(props, -1),
    "]": () => move(props, 1),
    "[": () => move(props, -1),
    Enter: () => {
      if (shown !== undefined) go(href(["letters", shown], query));
    },
  });
  const isEmpty = inbox.isByCause ? groups.rows.length === 0 : letters.rows.length === 0;
  return (
    <section class="panel inbox-list">
      <header class="panel-head">
        <h2>{inbox.isByCause ? "Causes" : "Letters"}</h2>
        <div class="aside">
          <Choice
            label="Order"
            value={inbox.isByCause ? "cause" : "time"}
            options={[
              ["cause", "By cause"],
              ["time", "By time"],
            ]}
            onChange={(by) => changeOrder(by)}
          />
        </div>
      </header>
      <NewRows
        count={letters.added + groups.added}
        show={() => {
          letters.accept();
          groups.accept();
        }}
      />
      <Loaded of={inbox.source}>
        {() => (isEmpty ? <NoLetters query={query} /> : <Rows {...props} />)}
      </Loaded>
      <ListFoot inbox={inbox} query={query} />
    </section>
  );
}

function changeOrder(by: "cause" | "time"): void {
  if (by === "time") return setQuery({ by: "time", cause: undefined });
  setQuery({
    by: undefined,
    after: undefined,
    category: undefined,
    assigned_to: undefined,
    status: undefined,
  });
}

function move({ inbox, shown, query }: ListProps, by: number): void {
  const { rows } = inbox.letters;
  const at = rows.findIndex(({ id }) => id === shown);
  const letter = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
  if (letter === undefined) return;
  go(href(["letters", letter.id], queryOf(query, letter, inbox)));
  document.getElementById(`letter-${letter.id}`)?.scrollIntoView({ block: "nearest" });
}

/** The address keeps the cause whose letters are open. */
function queryOf(query: Query, letter: DeadLetter, { isByCause }: Inbox): Query {
  return isByCause ? { ...query, cause: letter.cause } : query;
}

function Rows(props: ListProps): JSX.Element {
  const { inbox } = props;
  if (!inbox.isByCause) return <LetterRows {...props} />;
  const isClosed = inbox.chosen === undefined && inbox.letters.rows.length > 0;
  return (
    <ul class="causes">
      {/* The cause of the address has no open letters, and so it is no group. */}
      {isClosed && (
        <li>
          <LetterRows {...props} />
        </li>
      )}
      {inbox.groups.rows.map((group) => (
        <CauseItem key={group.cause} group={group} {...props} />
      ))}
    </ul>
  );
}

function CauseItem(props: ListProps & { group: FailureGroup }): JSX.Element {
  const { group, query, inbox } = props;
  const isChosen = inbox.chosen?.cause === group.cause;
  const title = errorTitle(group.sample.error);
  const more = href("letters", { ...query, cause: group.cause, by: "time" });
  return (
    <li>
      <a
        class="cause"
        href={href("letters", { ...query, cause: group.cause })}
        {...(isChosen ? { "aria-current": "true" as const } : {})}
      >
        <span class="cause-title" title={title}>
          {title}
        </span>
        <span class="cause-count">{countText(group)}</span>
        <span class="cause-sub">
          <GroupStatus group={group} />
          <span class="cut" title={group.types.join(", ")}>
            {group.types[0]}
            {group.types.length > 1 && ` +${group.types.length - 1}`}
          </span>
          <Time at={group.lastSeenAt} />
        </span>
        <Trend group={group} />
      </a>
      {isChosen && <LetterRows {...props} />}
      {isChosen && inbox.letters.rows.length < group.count && (
        <a class="show-all" href={more}>
          Show all {countText(group)}
        </a>
      )}
    </li>
  );
}

function LetterRows({ inbox, query, shown }: ListProps): JSX.Element {
  return (
    <ul class="letter-rows">
      {inbox.letters.rows.map((letter) => (
        <li key={letter.id}>
          <a
            id={`letter-${letter.id}`}
            href={href(["letters", letter.id], queryOf(query, letter, inbox))}
            {...(letter.id === shown ? { "aria-current": "true" as const } : {})}
          >
            <LetterMark status={letter.status} />
            <span class="cut" title={letterTitle(letter)}>
              {letterTitle(letter)}
            </span>
            <span class="dim">
              <Time at={letter.diedAt} />
            </span>
            {!inbox.isByCause && (
              <span class="letter-error cut" title={errorTitle(letter.error)}>
                {letter.type} · {errorTitle(letter.error)}
              </span>
            )}
          </a>
        </li>
      ))}
    </ul>
  );
}

function ListFoot({ inbox, query }: { inbox: Inbox; query: Query }): JSX.Element | null {
  const kept = settings.value?.retention?.deadLetterMs;
  const pages = !inbox.isByCause && (inbox.next !== null || query["after"] !== undefined);
  if (!pages && typeof kept !== "number") return null;
  return (
    <footer class="panel-foot">
      {typeof kept === "number" && <span>Kept for {durationText(kept)}, then removed.</span>}
      {pages && query["after"] !== undefined && (
        <ButtonLink href={href("letters", { ...query, after: undefined })}>Newest</ButtonLink>
      )}
      {pages && inbox.next !== null && (
        <ButtonLink href={href("letters", { ...query, by: "time", after: inbox.next })}>
          Older
        </ButtonLink>
      )}
    </footer>
  );
}

function NoLetters({ query }: { query: Query }): JSX.Element {
  const isFiltered = Object.keys(query).some((key) => key !== "by");
  if (isFiltered)
    return <Empty title="No letter fits the filter">Clear the filter to see all.</Empty>;
  return (
    <Empty isWell title="No letter is open" command="millrace dlq list">
      A job that fails for good leaves a letter here, until a person reprocesses or discards it. The
      same list in a terminal:
    </Empty>
  );
}
