/** Limits: how many jobs may run at the same time, and how many may start in a period. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { Limit } from "../../api/operations.gen.ts";
import { useResource } from "../../live/resource.ts";
import { countText, durationText } from "../../lib/format.ts";
import { may } from "../../lib/session.ts";
import { Button, Panel, Tag, Time } from "../../parts/basics.tsx";
import { ask, openDialog } from "../../parts/dialog.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { LimitForm } from "./limit-form.tsx";
import { limitName, tenantOf } from "./limit-rule.ts";

type Reload = () => Promise<void>;

export function Limits(): JSX.Element {
  const limits = useResource("limits", (signal) => call("listLimits", { signal }), {
    everyMs: 10_000,
  });
  const reload: Reload = () => limits.reload();
  return (
    <Panel
      flush
      title="Limits"
      sub="across all workers"
      aside={
        may("setLimit") && (
          <Button icon="plus" onClick={() => openLimit(null, reload)}>
            Set a limit…
          </Button>
        )
      }
    >
      <Loaded of={limits} lines={2}>
        {({ limits: rows }) =>
          rows.length === 0 ? (
            <Empty
              title="No limits"
              command="npx millrace limits set --type email --concurrency 5 --rate 100/1m"
            >
              Jobs start as soon as a slot is free. A limit keeps a type, a tenant or a service
              below what it can take:
            </Empty>
          ) : (
            <Table
              label="Limits"
              class="items"
              columns={columnsOf(reload)}
              rows={rows}
              keyOf={({ kind, name, tenant }) => `${kind} ${name} ${tenant ?? ""}`}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

function columnsOf(reload: Reload): readonly Column<Limit>[] {
  return [
    {
      id: "name",
      head: "Limit of",
      isName: true,
      cell: (limit) => (
        <span class="wrap">
          <span class="dim">{limit.kind}</span> {limit.name}
          {limit.tenant !== null && <span class="dim"> of tenant {limit.tenant}</span>}
        </span>
      ),
    },
    ...figureColumns(),
    {
      id: "owner",
      head: "Set by",
      cell: ({ owner, setBy, setAt }) => (
        <span class="row">
          <Tag>{owner === "code" ? "Code" : (setBy ?? "Operator")}</Tag>
          <span class="sub">
            <Time at={setAt} />
          </span>
        </span>
      ),
    },
    {
      id: "actions",
      head: <span class="sr">Actions</span>,
      width: "c-actions",
      cell: (limit) => (
        <div class="row acts">
          {may("setLimit") && (
            <Button
              kind="quiet"
              icon="edit"
              label={`Change the limit of ${limitName(limit)}`}
              onClick={() => openLimit(limit, reload)}
            />
          )}
          {limit.owner === "operator" && may("removeLimit") && (
            <Button
              kind="quiet"
              icon="trash"
              label={`Remove the limit of ${limitName(limit)}`}
              onClick={() => askRemove(limit, reload)}
            />
          )}
        </div>
      ),
    },
  ];
}

function figureColumns(): readonly Column<Limit>[] {
  return [
    {
      id: "concurrency",
      head: "At a time",
      isNumber: true,
      cell: ({ concurrency, used }) =>
        concurrency === null ? (
          <span class="dim">–</span>
        ) : (
          `${used === null ? "" : `${used} of `}${concurrency}`
        ),
    },
    {
      id: "rate",
      head: "Starts",
      isNumber: true,
      cell: ({ rate }) =>
        rate === null ? (
          <span class="dim">–</span>
        ) : (
          <span title={`Up to ${rate.burst} at once`}>
            {rate.limit} per {durationText(rate.perMs)}
          </span>
        ),
    },
    {
      id: "queued",
      head: "Waiting",
      isNumber: true,
      cell: ({ queued, atLeast }) => countText({ count: queued, atLeast }),
    },
  ];
}

function askRemove(limit: Limit, reload: Reload): void {
  const { kind, name } = limit;
  ask({
    title: `Remove the limit of ${limitName(limit)}?`,
    text: "What the code of a type states counts again. Jobs that wait for the limit may start.",
    count: 1,
    verb: "Remove limit",
    keep: "Keep it",
    isDangerous: true,
    reason: "required",
    act: async (reason) => {
      await call("removeLimit", { params: { kind, name }, query: { ...tenantOf(limit), reason } });
      await reload();
    },
  });
}

function openLimit(limit: Limit | null, reload: Reload): void {
  openDialog((close) => <LimitForm limit={limit} close={close} reload={reload} />);
}
