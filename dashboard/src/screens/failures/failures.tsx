/** Failures: dead letters in groups by their cause. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { FailureGroup } from "../../api/operations.gen.ts";
import { numberText, plural } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { useSteady } from "../../lib/steady.ts";
import { useResource } from "../../live/resource.ts";
import { Count, Panel, PageHead, Time } from "../../parts/basics.tsx";
import { Filters } from "../../parts/filters.tsx";
import { NewRows } from "../../parts/new-rows.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import type { ScreenProps } from "../../shell/screens.ts";
import { askRetry, GroupActions, mayDecide } from "./actions.tsx";
import { Cause } from "./cause.tsx";
import "./failures.css";
import { ClassTag, GroupStatus, Trend, TypeLinks } from "./parts.tsx";
import { chosenGroups, errorTitle, STATUS_WORDS, typesOf } from "./status.ts";

/** The most that the server answers. */
const GROUPS_MAX = 100;

export function Failures({ path: [cause], query }: ScreenProps): JSX.Element {
  if (cause !== undefined) return <Cause key={cause} cause={cause} tenant={query["tenant"]} />;
  return <Groups query={query} />;
}

function Groups({ query }: { query: ScreenProps["query"] }): JSX.Element {
  const { tenant } = query;
  const groups = useResource(
    `failures ${tenant ?? ""}`,
    (signal) =>
      call("listFailures", {
        query: { limit: GROUPS_MAX, ...(tenant === undefined ? {} : { tenant }) },
        signal,
      }),
    { on: ["job:failed", "job:deleted"], everyMs: 30_000 },
  );
  const all = groups.data.value?.failures ?? [];
  const steady = useSteady(
    JSON.stringify(query),
    groups.data.value === null ? null : chosenGroups(all, query),
    ({ cause }) => cause,
  );
  const shown = steady.rows;
  const letters = shown.reduce((sum, { count }) => sum + count, 0);
  const sub = `${plural(shown.length, "cause")}, ${plural(letters, "letter")}`;
  return (
    <>
      <PageHead title="Failures" {...(groups.data.value === null ? {} : { sub })} />
      <Filters
        label="Filter failures"
        query={query}
        of={[
          {
            key: "status",
            label: "Status",
            options: [["undecided", "Needs a decision"], ...Object.entries(STATUS_WORDS)],
          },
          { key: "type", label: "Type", options: typesOf(all).map((type) => [type, type]) },
          { key: "tenant", label: "Tenant" },
        ]}
      />
      <Panel flush foot={footOf(all.length)}>
        <NewRows count={steady.added} show={steady.accept} />
        <Loaded of={groups}>
          {() =>
            shown.length === 0 ? (
              <NoGroups isFiltered={all.length > 0 || tenant !== undefined} />
            ) : (
              <Table
                label="Failures by cause"
                class="failures"
                columns={columnsOf(tenant, groups.reload.bind(groups))}
                rows={shown}
                keyOf={({ cause }) => cause}
                hrefOf={({ cause }) => href(["failures", cause], { tenant })}
                rowKeys={keysOf(tenant, () => groups.reload())}
              />
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function keysOf(tenant: string | undefined, reload: () => Promise<void>) {
  if (!may("retryFailure")) return {};
  return { r: (group: FailureGroup) => askRetry({ group, tenant, reload }) };
}

function footOf(count: number): string {
  const kept =
    "Failures are of one cause when class, name, kind of message and own frame are equal.";
  return count < GROUPS_MAX ? kept : `The newest ${numberText(GROUPS_MAX)} causes. ${kept}`;
}

function NoGroups({ isFiltered }: { isFiltered: boolean }): JSX.Element {
  if (isFiltered) {
    return <Empty title="No cause fits the filter">Clear the filter to see all causes.</Empty>;
  }
  return (
    <Empty isWell title="No failures are open" command={"millrace failures list"}>
      All dead letters were looked at: none waits for a decision. When a job fails for good, its
      cause appears here with all jobs that failed of it. The same list in a terminal:
    </Empty>
  );
}

function columnsOf(
  tenant: string | undefined,
  reload: () => Promise<void>,
): readonly Column<FailureGroup>[] {
  return [
    {
      id: "cause",
      head: "Cause",
      isName: true,
      cell: (group) => (
        <div class="group-name">
          <a
            class="cut"
            href={href(["failures", group.cause], { tenant })}
            title={errorTitle(group.sample.error)}
          >
            {errorTitle(group.sample.error)}
          </a>
          <span class="row">
            <ClassTag of={group.sample.error} />
            <TypeLinks types={group.types} />
          </span>
        </div>
      ),
    },
    { id: "status", head: "Status", cell: (group) => <GroupStatus group={group} /> },
    {
      id: "count",
      head: "Letters",
      isNumber: true,
      cell: (group) => (
        <a href={href("letters", { cause: group.cause, tenant })}>
          <Count of={group} />
          <span class="unit"> {group.count === 1 ? "letter" : "letters"}</span>
        </a>
      ),
    },
    { id: "trend", head: "Last 24 h", width: "c-trend", cell: (group) => <Trend group={group} /> },
    {
      id: "first",
      head: "First seen",
      isSecondary: true,
      cell: (group) => <Time at={group.firstSeenAt} />,
    },
    { id: "last", head: "Last seen", cell: (group) => <Time at={group.lastSeenAt} /> },
    ...(mayDecide() ? [actionsColumn(tenant, reload)] : []),
  ];
}

function actionsColumn(
  tenant: string | undefined,
  reload: () => Promise<void>,
): Column<FailureGroup> {
  return {
    id: "actions",
    head: <span class="sr">Actions</span>,
    width: "c-actions",
    cell: (group) => <GroupActions bare group={group} tenant={tenant} reload={reload} />,
  };
}
