/** Tenants: whose jobs wait, run and fail, and what each tenant may enqueue. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { Tenant } from "../../api/operations.gen.ts";
import { href } from "../../lib/router.ts";
import { useResource } from "../../live/resource.ts";
import { ButtonLink, PageHead, Panel, Tag } from "../../parts/basics.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import type { ScreenProps } from "../../shell/screens.ts";
import { PauseButton } from "./actions.tsx";
import { QuotaUse, StateCount } from "./parts.tsx";
import { TenantView } from "./tenant.tsx";
import "./tenants.css";

const PAGE = 50;

export function Tenants({ path: [tenant], query }: ScreenProps): JSX.Element {
  if (tenant !== undefined) return <TenantView key={tenant} name={tenant} />;
  return <TenantTable after={query["after"]} />;
}

function TenantTable({ after }: { after: string | undefined }): JSX.Element {
  const tenants = useResource(
    `tenants ${after ?? ""}`,
    (signal) =>
      call("listTenants", { query: { limit: PAGE, ...(after ? { after } : {}) }, signal }),
    { restMs: 5_000, everyMs: 30_000 },
  );
  const next = tenants.data.value?.next ?? null;
  const hasPages = next !== null || after !== undefined;
  return (
    <>
      <PageHead title="Tenants" />
      <Panel
        flush
        {...(hasPages
          ? {
              foot: (
                <>
                  {after !== undefined && (
                    <ButtonLink href={href("tenants")}>First page</ButtonLink>
                  )}
                  {next !== null && (
                    <ButtonLink href={href("tenants", { after: next })}>Next page</ButtonLink>
                  )}
                </>
              ),
            }
          : {})}
      >
        <Loaded of={tenants}>
          {(data) =>
            data.tenants.length === 0 ? (
              <Empty
                title="No tenant has jobs yet"
                command={'await mill.enqueue(email, { to: "ada" }, { tenant: "acme" });'}
              >
                A job without a tenant belongs to “default”. Name one when you enqueue:
              </Empty>
            ) : (
              <Table
                label="Tenants"
                columns={columnsOf(() => tenants.reload())}
                rows={data.tenants}
                keyOf={(row) => row.tenant}
                hrefOf={(row) => href(["tenants", row.tenant])}
              />
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function columnsOf(reload: () => Promise<void>): readonly Column<Tenant>[] {
  const states = ["scheduled", "queued", "held", "running", "failed"] as const;
  return [
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
    ...states.map((state): Column<Tenant> => ({
      id: state,
      head: `${state[0]?.toUpperCase() ?? ""}${state.slice(1)}`,
      isNumber: true,
      cell: (row) => <StateCount tenant={row} state={state} />,
    })),
    {
      id: "status",
      head: "Status",
      cell: ({ pause, intake }) => (
        <span class="row">
          {pause !== null && (
            <Tag tone="warn" title={`${pause.pausedBy ?? "the application"}: ${pause.reason}`}>
              Paused
            </Tag>
          )}
          {intake !== null && (
            <Tag tone="warn" title={`${intake.closedBy ?? "the application"}: ${intake.reason}`}>
              Intake closed
            </Tag>
          )}
          {pause === null && intake === null && <span class="dim">Open</span>}
        </span>
      ),
    },
    { id: "quota", head: "Quota", isSecondary: true, cell: (row) => <QuotaUse tenant={row} /> },
    {
      id: "actions",
      head: <span class="sr">Actions</span>,
      isNumber: true,
      cell: (row) => <PauseButton tenant={row} reload={reload} />,
    },
  ];
}
