/** Breakers: which services are left alone, since when, and when one job tries again. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { Breaker } from "../../api/operations.gen.ts";
import { useResource } from "../../live/resource.ts";
import { countText, durationText, numberText } from "../../lib/format.ts";
import { now } from "../../lib/now.ts";
import { href } from "../../lib/router.ts";
import { PageHead, Panel, Time } from "../../parts/basics.tsx";
import "../../parts/items.css";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import type { ScreenProps } from "../../shell/screens.ts";
import { typeTerm } from "../lanes/types-table.tsx";
import { BreakerActions } from "./actions.tsx";
import { BreakerPill, breakerWord } from "./breaker-state.tsx";
import { Day, Trail } from "./history.tsx";
import "../lanes/lanes.css";
import "./breakers.css";

const EXAMPLE = `const charge = defineJob({ type: "charge", services: ["bank"] }).run(
  async (payload, ctx) => ctx.breaker("bank", (signal) => pay(payload, signal)),
);`;
/** A probe is due a minute after a breaker has opened. */
const PROBE_MS = 60_000;

export function Breakers({ path }: ScreenProps): JSX.Element {
  const [chosen] = path;
  const breakers = useResource("breakers", (signal) => call("listBreakers", { signal }), {
    restMs: 2_000,
    everyMs: 10_000,
  });
  const reload = (): Promise<void> => breakers.reload();
  return (
    <>
      <PageHead title="Breakers" />
      {chosen !== undefined && <Trail key={chosen} service={chosen} />}
      <Panel
        flush
        title="Breakers"
        sub={countsOf(breakers.data.value?.breakers ?? [])}
        aside={
          <span class="sub">
            Shared by all workers. While one is open its jobs wait and lose no attempt.
          </span>
        }
        foot={<Legend />}
      >
        <Loaded of={breakers}>
          {({ breakers: rows }) =>
            rows.length === 0 ? (
              <Empty title="No breakers yet" command={EXAMPLE}>
                A breaker appears when a type names a service, or when an error of a job names one:
              </Empty>
            ) : (
              <Table
                label="Breakers"
                class="items breakers"
                columns={columnsOf(reload)}
                rows={rows}
                keyOf={({ service }) => service}
                hrefOf={({ service }) => href(["breakers", service])}
              />
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function countsOf(rows: readonly Breaker[]): string {
  return (["open", "half_open", "closed"] as const)
    .map((state) => ({ state, count: rows.filter((row) => row.state === state).length }))
    .filter(({ count }) => count > 0)
    .map(({ state, count }) => `${count} ${breakerWord(state).toLowerCase()}`)
    .join(", ");
}

function Legend(): JSX.Element {
  return (
    <>
      <span class="row">
        <i class="legend-day closed" /> closed
      </span>
      <span class="row">
        <i class="legend-day half_open" /> half open, shorter bar
      </span>
      <span class="row">
        <i class="legend-day open" /> open
      </span>
      <span class="push">24 hours end now</span>
    </>
  );
}

function columnsOf(reload: () => Promise<void>): readonly Column<Breaker>[] {
  return [
    {
      id: "state",
      head: "State",
      cell: (row) => (
        <div class="breaker-state">
          <BreakerPill state={row.state} />
          <Since breaker={row} />
        </div>
      ),
    },
    { id: "service", head: "Service", isName: true, cell: (row) => <Service breaker={row} /> },
    {
      id: "failures",
      head: "Failures in a row",
      isNumber: true,
      cell: ({ failures, lastFailureAt }) => (
        <span
          class={failures > 0 ? "bad" : "dim"}
          title={lastFailureAt === null ? "" : `The last at ${lastFailureAt}`}
        >
          {numberText(failures)}
        </span>
      ),
    },
    { id: "probe", head: "Next probe", width: "named", cell: (row) => <Probe breaker={row} /> },
    {
      id: "waiting",
      head: "Jobs held",
      isNumber: true,
      cell: (row) => <Held row={row} />,
    },
    {
      id: "day",
      head: "Last 24 hours",
      isSecondary: true,
      width: "c-day",
      cell: ({ service, state }) => <Day service={service} state={state} />,
    },
    {
      id: "actions",
      head: <span class="sr">Actions</span>,
      width: "c-actions",
      cell: (row) => <BreakerActions breaker={row} waiting={row.waiting.count} reload={reload} />,
    },
  ];
}

function Held({ row: { waiting, types } }: { row: Breaker }): JSX.Element {
  if (waiting.count === 0) return <span class="dim">{waiting.atLeast ? "many" : "0"}</span>;
  const [only, ...others] = types;
  if (only === undefined || others.length > 0) return <span>{countText(waiting)}</span>;
  return (
    <a href={href("jobs", { q: `${typeTerm(only)} state:queued` })} title={`Jobs of ${only}`}>
      {countText(waiting)}
    </a>
  );
}

function Since({ breaker }: { breaker: Breaker }): JSX.Element | null {
  const { state, openedAt, halfOpenedAt, updatedAt } = breaker;
  const since = state === "open" ? openedAt : state === "half_open" ? halfOpenedAt : updatedAt;
  if (since === null) return null;
  return (
    <span class="sub" title={since}>
      for {durationText(now.value - Date.parse(since))}
    </span>
  );
}

function Service({ breaker }: { breaker: Breaker }): JSX.Element {
  const { service, types, reason, changedBy, state, parkedUntil } = breaker;
  return (
    <div class="service">
      <a class="strong wrap" href={href(["breakers", service])}>
        {service}
      </a>
      <div class="sub wrap">
        {types.length === 0 && "no type names it"}
        {types.map((type) => (
          <a key={type} class="listed" href={href(["lanes", "type", type])}>
            {type}
          </a>
        ))}
      </div>
      {state !== "closed" && reason !== null && (
        <div class="mono bad cut" title={reason}>
          {reason}
        </div>
      )}
      {state !== "closed" && changedBy !== null && (
        <div class="sub">Opened by {changedBy}; it stays open until it is reset.</div>
      )}
      {parkedUntil.map(({ tenant, until, reason: why }) => (
        <div key={tenant ?? ""} class="sub wrap">
          {tenant === null ? "All tenants" : `Tenant ${tenant}`} parked, ends <Time at={until} />:{" "}
          {why}
        </div>
      ))}
    </div>
  );
}

function Probe({ breaker }: { breaker: Breaker }): JSX.Element {
  const { state, probeAt, probeJobId } = breaker;
  if (probeJobId !== null) {
    return (
      <a href={href(["jobs", probeJobId])} title={probeJobId}>
        running
      </a>
    );
  }
  if (state === "closed") return <span class="dim">–</span>;
  if (probeAt === null) return <span class="sub">none until a reset</span>;
  const left = Date.parse(probeAt) - now.value;
  const share = Math.max(0, Math.min(1, left / PROBE_MS)) * 100;
  return (
    <span class="probe">
      <svg class="ring" viewBox="0 0 18 18" aria-hidden="true">
        <circle cx="9" cy="9" r="7" />
        <circle cx="9" cy="9" r="7" pathLength={100} stroke-dasharray={`${share} 100`} />
      </svg>
      {left <= 0 ? "due" : <Time at={probeAt} />}
    </span>
  );
}
