/** One cause: its newest error, who is concerned, and the letters behind it. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { DeadLetter, FailureGroup } from "../../api/operations.gen.ts";
import { countText, numberText } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { ownFrame } from "../../lib/stack.ts";
import { useResource, type Resource } from "../../live/resource.ts";
import {
  ButtonLink,
  CopyButton,
  Facts,
  IdLink,
  PageHead,
  Panel,
  Time,
} from "../../parts/basics.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { Stack } from "../../parts/stack.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { GroupActions } from "./actions.tsx";
import { ClassTag, GroupStatus, Trend, TypeLinks } from "./parts.tsx";
import { isOpen } from "../letters/words.tsx";
import { errorTitle } from "./status.ts";

/** Letters that are read to see whom a cause concerns. */
const LOOKED_AT = 100;
const SHOWN = 10;

type Letters = { readonly deadLetters: readonly DeadLetter[] };

/** Those that the count of the cause has: a letter that was decided about is no part of it. */
async function readOpenLetters(
  query: { readonly cause: string; readonly tenant?: string },
  signal: AbortSignal,
): Promise<Letters> {
  const read = await call("listDeadLetters", { query: { ...query, limit: LOOKED_AT }, signal });
  return { deadLetters: read.deadLetters.filter(isOpen) };
}

export function Cause({
  cause,
  tenant,
}: {
  cause: string;
  tenant: string | undefined;
}): JSX.Element {
  const scope = tenant === undefined ? {} : { tenant };
  const on = { on: ["job:failed", "job:deleted"], everyMs: 30_000 };
  const group = useResource(
    `cause ${cause} ${tenant ?? ""}`,
    (signal) => call("getFailure", { params: { cause }, query: scope, signal }),
    on,
  );
  const letters = useResource(
    `cause-letters ${cause} ${tenant ?? ""}`,
    (signal) => readOpenLetters({ cause, ...scope }, signal),
    on,
  );
  const reload = async (): Promise<void> => {
    await Promise.all([group.reload(), letters.reload()]);
  };
  const found = group.data.value;
  return (
    <>
      <PageHead title={found === null ? "Cause" : (found.sample.error?.name ?? "Cause")}>
        <ButtonLink href={href("failures", { tenant })} icon="left" kind="quiet">
          All causes
        </ButtonLink>
        {found !== null && <GroupActions group={found} tenant={tenant} reload={reload} />}
      </PageHead>
      <Loaded of={group}>
        {(data) => <About group={data} letters={letters} tenant={tenant} />}
      </Loaded>
    </>
  );
}

function About(props: {
  group: FailureGroup;
  letters: Resource<Letters>;
  tenant: string | undefined;
}): JSX.Element {
  const { group, letters, tenant } = props;
  const all = href("letters", { cause: group.cause, tenant });
  return (
    <div class="cols">
      <Panel class="c8" title="Newest error" sub={<Time at={group.lastSeenAt} />}>
        <NewestError key={group.sample.jobId} group={group} />
      </Panel>
      <Panel
        class="c4"
        title="Cause"
        aside={<CopyButton text={group.cause} label="Copy the cause" />}
      >
        <div class="stack">
          <CauseFacts group={group} all={all} />
          <div>
            <p class="sub">Failures of the last 24 hours</p>
            <Trend group={group} />
          </div>
        </div>
      </Panel>
      <Panel
        class="c8"
        flush
        title="Newest letters"
        aside={<a href={all}>All {countText(group)}</a>}
      >
        <Loaded of={letters}>{({ deadLetters }) => <LetterTable letters={deadLetters} />}</Loaded>
      </Panel>
      <Panel class="c4" flush title="Tenants" {...newest(group.count)}>
        <Loaded of={letters}>
          {({ deadLetters }) => <TenantTable cause={group.cause} letters={deadLetters} />}
        </Loaded>
      </Panel>
    </div>
  );
}

function newest(count: number): { sub?: string } {
  return count > LOOKED_AT ? { sub: `of the newest ${LOOKED_AT} letters` } : {};
}

/** Lists have no stacks; the letter of the sample has it. */
function NewestError({ group: { sample } }: { group: FailureGroup }): JSX.Element {
  const letter = useResource(
    `sample ${sample.jobId}`,
    (signal) => call("getDeadLetter", { params: { id: sample.jobId }, signal }),
    { on: [] },
  );
  const error = letter.data.value?.error ?? sample.error;
  const frame = ownFrame(error?.stack);
  return (
    <div class="stack">
      <p class="error-title wrap">{errorTitle(error)}</p>
      {frame !== null && <p class="mono wrap">{frame}</p>}
      {error?.stack !== undefined && <Stack text={error.stack} />}
      {letter.data.value !== null && error?.stack === undefined && (
        <p class="sub">The error came without a stack.</p>
      )}
    </div>
  );
}

function CauseFacts({ group, all }: { group: FailureGroup; all: string }): JSX.Element {
  return (
    <Facts
      of={[
        ["Status", <GroupStatus group={group} />],
        ["Letters", <a href={all}>{countText(group)}</a>],
        ["Class", <ClassTag of={group.sample.error} />],
        ["Types", <TypeLinks types={group.types} max={20} />],
        ["First seen", <Time at={group.firstSeenAt} />],
        ["Last seen", <Time at={group.lastSeenAt} />],
        group.sample.error?.service !== undefined && [
          "Service",
          <a href={href(["breakers", group.sample.error.service])}>{group.sample.error.service}</a>,
        ],
        group.decidedAt !== null && [
          "Decided",
          <span>
            by {group.decidedBy ?? "the application"} <Time at={group.decidedAt} />
          </span>,
        ],
        group.notes !== null && ["Reason", group.notes],
        ["Sample", <IdLink id={group.sample.jobId} href={href(["jobs", group.sample.jobId])} />],
        may("listAudit") && [
          "Audit",
          <a href={href("audit", { subject_kind: "cause", subject: group.cause })}>Entries</a>,
        ],
      ]}
    />
  );
}

const COLUMNS: readonly Column<DeadLetter>[] = [
  {
    id: "letter",
    head: "Letter",
    isName: true,
    cell: ({ id }) => <IdLink id={id} href={href(["letters", id])} />,
  },
  {
    id: "type",
    head: "Type",
    width: "c-text",
    cell: ({ type }) => (
      <span class="cut" title={type}>
        {type}
      </span>
    ),
  },
  {
    id: "tenant",
    head: "Tenant",
    width: "c-text",
    cell: ({ tenant }) => (
      <a class="cut" href={href(["tenants", tenant])} title={tenant}>
        {tenant}
      </a>
    ),
  },
  { id: "attempts", head: "Attempts", isNumber: true, cell: ({ attempts }) => attempts },
  { id: "died", head: "Failed", cell: ({ diedAt }) => <Time at={diedAt} /> },
];

function LetterTable({ letters }: { letters: readonly DeadLetter[] }): JSX.Element {
  if (letters.length === 0) {
    return (
      <Empty title="No letter of this cause is left">They were reprocessed or discarded.</Empty>
    );
  }
  return (
    <Table
      label="Newest letters of this cause"
      columns={COLUMNS}
      rows={letters.slice(0, SHOWN)}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => href(["letters", id])}
    />
  );
}

function TenantTable(props: { cause: string; letters: readonly DeadLetter[] }): JSX.Element {
  const counts = new Map<string, number>();
  for (const { tenant } of props.letters) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  const rows = [...counts].map(([tenant, count]) => ({ tenant, count }));
  return (
    <Table
      label="Tenants with this cause"
      columns={[
        {
          id: "tenant",
          head: "Tenant",
          isName: true,
          cell: ({ tenant }) => (
            <a class="cut" href={href(["tenants", tenant])} title={tenant}>
              {tenant}
            </a>
          ),
        },
        {
          id: "letters",
          head: "Letters",
          isNumber: true,
          cell: ({ tenant, count }) => (
            <a href={href("letters", { cause: props.cause, tenant })}>{numberText(count)}</a>
          ),
        },
      ]}
      rows={rows.toSorted((one, other) => other.count - one.count)}
      keyOf={({ tenant }) => `tenant-${tenant}`}
    />
  );
}
