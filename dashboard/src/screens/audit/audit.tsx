/** Audit: who did what, when and why. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { addressOf, call } from "../../api/client.ts";
import { PLACES, type AuditEntry } from "../../api/operations.gen.ts";
import { shortId } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { useSteady } from "../../lib/steady.ts";
import { useResource } from "../../live/resource.ts";
import { Button, ButtonLink, PageHead, Panel, Time } from "../../parts/basics.tsx";
import { Filters, type Filter } from "../../parts/filters.tsx";
import { JsonValue } from "../../parts/json.tsx";
import { NewRows } from "../../parts/new-rows.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import type { ScreenProps } from "../../shell/screens.ts";
import "./audit.css";
import { KINDS, NAMES } from "./names.ts";
import { Verify } from "./verify.tsx";
import { auditFilter, FILTER_KEYS, nameWords, operationIn, subjectPath } from "./words.ts";

const PAGE = 50;

const FILTERS: readonly Filter[] = [
  { key: "actor", label: "Who" },
  { key: "name", label: "What", options: NAMES.map((name) => [name, nameWords(name)]) },
  { key: "subject_kind", label: "Kind of subject", options: KINDS.map((kind) => [kind, kind]) },
  { key: "subject", label: "Subject" },
  { key: "tenant", label: "Tenant" },
  { key: "from", label: "From", placeholder: "2h or 2026-11-18" },
  { key: "to", label: "To", placeholder: "1h or 2026-11-19" },
];

export function Audit({ query }: ScreenProps): JSX.Element {
  const filter = auditFilter(query, NAMES, KINDS);
  const after = query["after"];
  const entries = useResource(
    `audit ${JSON.stringify(filter)} ${after ?? ""}`,
    (signal) =>
      call("listAudit", {
        query: { ...filter, limit: PAGE, ...(after ? { after: Number(after) } : {}) },
        signal,
      }),
    // A person reads old entries; only the newest page follows what happens.
    after === undefined ? { restMs: 10_000, everyMs: 15_000 } : { on: [] },
  );
  const next = entries.data.value?.next ?? null;
  const steady = useSteady(
    `${JSON.stringify(filter)} ${after ?? ""}`,
    entries.data.value?.entries ?? null,
    ({ id }) => String(id),
    (row, last) => row.id < last.id,
  );
  return (
    <>
      <PageHead title="Audit">
        {may("exportAudit") && (
          <a
            class="btn"
            href={addressOf(PLACES.exportAudit.path, {}, filter).href}
            download="audit.jsonl"
          >
            Export
          </a>
        )}
        {may("verifyAudit") && <Verify />}
      </PageHead>
      <Filters label="Filter the audit" query={query} of={FILTERS} reset={["after"]} />
      <Panel
        flush
        {...(next === null && after === undefined
          ? {}
          : { foot: <Pages query={query} next={next} /> })}
      >
        <NewRows count={steady.added} show={steady.accept} />
        <Loaded of={entries}>
          {() =>
            steady.rows.length === 0 ? (
              <NoEntries isFiltered={FILTER_KEYS.some((key) => query[key] !== undefined)} />
            ) : (
              <Table
                label="Audit entries"
                class="audit"
                columns={COLUMNS}
                rows={steady.rows}
                keyOf={({ id }) => String(id)}
              />
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function Pages({ query, next }: { query: ScreenProps["query"]; next: number | null }): JSX.Element {
  return (
    <>
      {query["after"] !== undefined && (
        <ButtonLink href={href("audit", { ...query, after: undefined })}>Newest</ButtonLink>
      )}
      {next !== null && (
        <ButtonLink href={href("audit", { ...query, after: next })}>Older</ButtonLink>
      )}
    </>
  );
}

function NoEntries({ isFiltered }: { isFiltered: boolean }): JSX.Element {
  if (isFiltered)
    return <Empty title="No entry fits the filter">Clear the filter to see all.</Empty>;
  return (
    <Empty
      title="No person has changed anything yet"
      command={'millrace pause --lane fast --reason "a try"'}
    >
      Every action of a person leaves an entry: on this page, by the API and in a terminal.
    </Empty>
  );
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    id: "what",
    head: "What",
    isName: true,
    width: "c-what",
    cell: ({ name }) => <span title={name}>{nameWords(name)}</span>,
  },
  { id: "when", head: "When", cell: ({ at }) => <Time at={at} /> },
  {
    id: "who",
    head: "Who",
    cell: ({ actor }) =>
      actor === null ? (
        <span class="dim nw">the application</span>
      ) : (
        <a class="cut" href={href("audit", { actor })} title={actor}>
          {actor}
        </a>
      ),
  },
  { id: "subject", head: "Subject", width: "c-subject", cell: (entry) => <Subject of={entry} /> },
  {
    id: "reason",
    head: "Reason and change",
    width: "c-reason",
    cell: (entry) => <Why of={entry} />,
  },
  {
    id: "tenant",
    head: "Tenant",
    isSecondary: true,
    cell: ({ tenant }) =>
      tenant === null ? (
        <span class="dim">–</span>
      ) : (
        <a class="cut" href={href(["tenants", tenant])} title={tenant}>
          {tenant}
        </a>
      ),
  },
];

function Subject({ of: entry }: { of: AuditEntry }): JSX.Element {
  const { kind, name } = entry.subject;
  const path = subjectPath(entry);
  const shown = /^[0-9A-HJKMNP-TV-Z]{26}$/.test(name) ? shortId(name) : name;
  return (
    <span class="cut" title={`${kind} ${name}`}>
      <span class="dim">{kind} </span>
      {path === null ? shown : <a href={href(path)}>{shown}</a>}
    </span>
  );
}

/** The reason of an act of a bulk operation begins with the operation. */
function Reason({ text }: { text: string }): JSX.Element {
  const { operation, rest } = operationIn(text);
  if (operation === null) return <span class="wrap">{rest}</span>;
  return (
    <span class="wrap" title={text}>
      <a class="nw" href={href(["operations", operation])}>
        operation {shortId(operation)}
      </a>{" "}
      {rest}
    </span>
  );
}

/** The reason, and what the subject was before and after, drawn when it is opened. */
function Why({ of: { reason, before, after, id } }: { of: AuditEntry }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const hasChange = before !== undefined || after !== undefined;
  return (
    <div class="why">
      {reason === null ? <span class="dim">No reason</span> : <Reason text={reason} />}
      {hasChange && (
        <Button
          kind="quiet"
          icon={isOpen ? "up" : "down"}
          pressed={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          Change
          <span class="sr"> of entry {id}</span>
        </Button>
      )}
      {isOpen && (
        <div class="change">
          <div>
            <p class="sub">Before</p>
            <JsonValue value={before ?? null} label={`Before entry ${id}`} />
          </div>
          <div>
            <p class="sub">After</p>
            <JsonValue value={after ?? null} label={`After entry ${id}`} />
          </div>
        </div>
      )}
    </div>
  );
}
