/** What the list says about itself: what it did not understand, where it stopped, what is new. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { numberText } from "../../../lib/format.ts";
import { parseQuery, queryText, termText, type Wrong } from "../../../lib/query.ts";
import { go, href } from "../../../lib/router.ts";
import { Button, ButtonLink } from "../../../parts/basics.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Empty, Note } from "../../../parts/notices.tsx";
import type { JobQuery } from "./job-query.ts";
import { keepWay, wayTo } from "./pages.ts";
import type { Listed } from "./use-job-list.ts";

interface Here {
  readonly listed: Listed;
  readonly q: string;
  readonly after: string | undefined;
  readonly cols: string | undefined;
}

export function WrongTerms({ wrong }: { wrong: readonly Wrong[] }): JSX.Element | null {
  if (wrong.length === 0) return null;
  return (
    <Note tone="warn" title="The list was not read: a term is not understood">
      {wrong.map(({ text, message }) => (
        <span key={text} class="wrong-term">
          <code>{text}</code> {message}
        </span>
      ))}
    </Note>
  );
}

/** A search with a limit says so, and how to go on. */
export function CutShort({ listed, jobQuery, ...here }: Here & { jobQuery: JobQuery }) {
  const isPartial = listed.isCutShort || (jobQuery.keep !== null && listed.next !== null);
  if (!isPartial || listed.next === null) {
    return jobQuery.isSearch ? <span class="dim">All jobs were searched.</span> : null;
  }
  const hasType = jobQuery.query.type !== undefined;
  return (
    <span class="dim">
      The search stopped at its limit; older jobs may match. Add {hasType ? "" : "type: or "}age&lt;
      to search fewer, or <a href={pageHref(here, listed.next)}>continue the search</a>.
    </span>
  );
}

function pageHref({ q, cols }: Omit<Here, "listed">, after: string): string {
  return href("jobs", { q, after, cols });
}

/** New jobs wait here, so that no row moves by itself. It is announced once. */
export function NewChip({ listed, load }: { listed: Listed; load: () => void }): JSX.Element {
  const { fresh, hasMoreFresh } = listed;
  const hasFresh = fresh > 0;
  const [said, setSaid] = useState("");
  useEffect(() => setSaid(hasFresh ? "There are new jobs above the list." : ""), [hasFresh]);
  return (
    <>
      <span class="sr" role="status">
        {said}
      </span>
      {hasFresh && (
        <button type="button" class="new-chip" onClick={load}>
          <Icon name="up" small />
          {numberText(fresh)}
          {hasMoreFresh ? "+" : ""} new
        </button>
      )}
    </>
  );
}

/** Newer and older. */
export function Foot({ listed, ...here }: Here): JSX.Element | null {
  const { q, after, cols } = here;
  const way = wayTo(q, after);
  const { next } = listed;
  if (next === null && after === undefined) return null;
  const older = (): void => {
    if (next === null) return;
    keepWay(q, [...way, next]);
    go(pageHref(here, next));
  };
  const newer = way.at(-2);
  return (
    <footer class="panel-foot pages">
      <span>{after === undefined ? "First page" : `Page ${numberText(way.length)}`}</span>
      <span class="push" />
      {way.length > 2 && (
        <ButtonLink kind="quiet" href={href("jobs", { q, cols })}>
          First page
        </ButtonLink>
      )}
      <Button
        disabled={newer === undefined}
        onClick={() => go(href("jobs", { q, cols, after: newer }))}
      >
        Newer
      </Button>
      <Button disabled={next === null} onClick={older}>
        Older
      </Button>
    </footer>
  );
}

const ENQUEUE = `npx millrace enqueue email '{"to":"ada@example.com"}'`;

/** No job at all, or none that matches: then each term can be dropped. */
export function NoJobs(props: { q: string; jobQuery: JobQuery; listed: Listed }): JSX.Element {
  const { q, jobQuery, listed } = props;
  if (jobQuery.wrong.length > 0) return <Empty title="Correct the query to see jobs" />;
  if (q.trim() === "") {
    return (
      <Empty title="There is no job yet" command={ENQUEUE}>
        Every job appears here as soon as it is enqueued: by your application, by a schedule, or by
        this command.
      </Empty>
    );
  }
  const { terms, words } = parseQuery(q);
  const all = [...terms.map(termText), ...words];
  const title = listed.next === null ? "No job matches all terms" : "No match so far";
  return (
    <Empty
      title={title}
      actions={all.map((term, index) => (
        <ButtonLink key={term} href={href("jobs", { q: dropped(q, index) })}>
          Drop {term}
        </ButtonLink>
      ))}
    >
      {listed.next === null
        ? "A job must match every term. Drop one to see more:"
        : "Older jobs were not searched yet. Continue the search above, or drop a term:"}
    </Empty>
  );
}

function dropped(q: string, index: number): string {
  const { terms, words } = parseQuery(q);
  return queryText({
    terms: terms.filter((_, each) => each !== index),
    words: words.filter((_, each) => each + terms.length !== index),
  });
}
