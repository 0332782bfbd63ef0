/** Schedules: when, what next, what came of it; run now, pause, change. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { Schedule } from "../../api/operations.gen.ts";
import { useResource } from "../../live/resource.ts";
import { zone } from "../../lib/prefs.ts";
import { href, setQuery } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { Button, Choice, PageHead, Panel, Tag } from "../../parts/basics.tsx";
import { openDialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import type { ScreenProps } from "../../shell/screens.ts";
import { PauseTag } from "../lanes/lane-parts.tsx";
import { ScheduleActions } from "./actions.tsx";
import { History, LastTicks } from "./ticks.tsx";
import { ScheduleForm } from "./schedule-form.tsx";
import { missedText, overlapText, runChips, sentenceOf } from "./wording.ts";
import "../../parts/items.css";
import "../lanes/lanes.css";
import "./schedules.css";

type Reload = () => Promise<void>;
type ShownZone = "own" | "mine";
const PAGE = 100;
const EXAMPLE = `npx millrace schedules create nightly "30 2 * * *" report --time-zone Europe/Copenhagen`;

export function Schedules({ path, query }: ScreenProps): JSX.Element {
  const [chosen] = path;
  const after = query["after"];
  const shownZone: ShownZone = query["zone"] === "mine" ? "mine" : "own";
  const schedules = useResource(
    `schedules ${after ?? ""}`,
    (signal) =>
      call("listSchedules", {
        query: { limit: PAGE, ...(after === undefined ? {} : { after }) },
        signal,
      }),
    { on: ["job:enqueued"], restMs: 5_000, everyMs: 30_000 },
  );
  const reload: Reload = () => schedules.reload();
  return (
    <>
      <PageHead title="Schedules">
        {may("createSchedule") && (
          <Button
            kind="primary"
            icon="plus"
            onClick={() =>
              openDialog((close) => <ScheduleForm schedule={null} close={close} reload={reload} />)
            }
          >
            New schedule…
          </Button>
        )}
      </PageHead>
      {chosen !== undefined && <History key={chosen} name={chosen} />}
      <Panel
        flush
        title="Schedules"
        sub={countsOf(schedules.data.value?.schedules ?? [])}
        aside={<ZoneChoice value={shownZone} />}
        foot={<Foot next={schedules.data.value?.next ?? null} />}
      >
        <Loaded of={schedules}>
          {({ schedules: rows }) =>
            rows.length === 0 ? (
              <Empty title="No schedules yet" command={EXAMPLE}>
                A schedule enqueues a job by the clock. Code declares it with{" "}
                <code>schedule()</code>, or a person stores it:
              </Empty>
            ) : (
              <Table
                label="Schedules"
                class="items schedules"
                columns={columnsOf(shownZone, reload)}
                rows={rows}
                keyOf={({ name }) => name}
                hrefOf={({ name }) => href(["schedules", name], { zone: query["zone"] })}
              />
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function countsOf(rows: readonly Schedule[]): string {
  const paused = rows.filter(({ pausedAt }) => pausedAt !== null).length;
  if (rows.length === 0) return "";
  return paused === 0 ? String(rows.length) : `${rows.length}, ${paused} paused`;
}

function ZoneChoice({ value }: { value: ShownZone }): JSX.Element {
  return (
    <Choice
      label="Times of the next runs"
      value={value}
      options={[
        ["own", "Own zone"],
        ["mine", zone.value === "utc" ? "UTC" : "My time"],
      ]}
      onChange={(chosen) => setQuery({ zone: chosen === "mine" ? "mine" : undefined })}
    />
  );
}

function Foot({ next }: { next: string | null }): JSX.Element {
  return (
    <>
      <span class="grow">
        When clocks go forward, a run inside the missing hour starts at its end; when they go back,
        it runs once. A dashed run is the first one after a change.
      </span>
      {next !== null && <a href={href("schedules", { after: next })}>Next {PAGE} by name</a>}
    </>
  );
}

function columnsOf(shownZone: ShownZone, reload: Reload): readonly Column<Schedule>[] {
  return [
    { id: "name", head: "Schedule", isName: true, cell: (row) => <Name schedule={row} /> },
    {
      id: "when",
      head: "When",
      width: "c-when",
      cell: (row) => (
        <div>
          <div class="wrap">{sentenceOf(row)}</div>
          <div class="sub wrap">
            <code>{row.cron}</code> {row.timeZone}
          </div>
          <div class="sub wrap">
            {missedText(row.missed)}, {overlapText(row.overlap)}
          </div>
        </div>
      ),
    },
    {
      id: "next",
      head: "Next five runs",
      width: "c-next",
      cell: (row) => <NextRuns schedule={row} shownZone={shownZone} />,
    },
    {
      id: "last",
      head: "Last ten, newest right",
      cell: ({ name }) => <LastTicks name={name} />,
    },
    {
      id: "actions",
      head: <span class="sr">Actions</span>,
      width: "c-actions",
      cell: (row) => <ScheduleActions schedule={row} reload={reload} />,
    },
  ];
}

function Name({ schedule }: { schedule: Schedule }): JSX.Element {
  const { name, type, pausedAt, pausedBy, pauseReason, owner, isDeclared, tenant, createdBy } =
    schedule;
  return (
    <div>
      <div class="row">
        <a class="strong wrap" href={href(["schedules", name])}>
          {name}
        </a>
        {pausedAt !== null && (
          <PauseTag pause={{ pausedAt, pausedBy, reason: pauseReason ?? "no reason" }} />
        )}
        {owner === "code" && !isDeclared && (
          <Tag tone="warn" title="No living worker declares it any more">
            <Icon name="failures" small />
            Not declared
          </Tag>
        )}
      </div>
      <div class="sub">
        <a href={href(["lanes", "type", type])}>{type}</a>
        {owner === "code" ? " · from code" : ` · stored by ${createdBy ?? "an operator"}`}
        {tenant !== "default" && ` · tenant ${tenant}`}
      </div>
    </div>
  );
}

function NextRuns(props: { schedule: Schedule; shownZone: ShownZone }): JSX.Element {
  const { schedule, shownZone } = props;
  if (schedule.pausedAt !== null) {
    return <span class="sub">None while paused. Resume to plan the next runs.</span>;
  }
  if (schedule.nextRuns.length === 0) return <span class="sub">No run is left.</span>;
  const mine = zone.value === "utc" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
  const shown = shownZone === "own" ? schedule.timeZone : mine;
  const chips = runChips(schedule.nextRuns.map(Date.parse), shown, Date.now());
  return (
    <ol class="runs">
      {chips.map(({ at, text, isShifted }) => (
        <li key={at} class={isShifted ? "shift" : ""}>
          <time dateTime={new Date(at).toISOString()} title={new Date(at).toISOString()}>
            {text}
          </time>
          {isShifted && <span class="sr"> after the clocks change</span>}
        </li>
      ))}
    </ol>
  );
}
