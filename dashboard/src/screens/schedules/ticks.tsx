/** What came of the ticks of a schedule. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { Tick } from "../../api/operations.gen.ts";
import { useResource } from "../../live/resource.ts";
import { momentText } from "../../lib/format.ts";
import { zone } from "../../lib/prefs.ts";
import { href } from "../../lib/router.ts";
import { ButtonLink, IdLink, Moment, Panel, Time } from "../../parts/basics.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { StateShape } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { tickMark } from "./wording.ts";

const MARKS = 10;
const SHOWN = 50;

/** Small marks, the newest at the right; together they open the list with their jobs. */
export function LastTicks({ name }: { name: string }): JSX.Element {
  const ticks = useTicks(name, MARKS);
  const rows = ticks.data.value?.ticks ?? [];
  if (ticks.data.value !== null && rows.length === 0) return <span class="sub">No run yet</span>;
  return (
    <a class="lasts" href={href(["schedules", name])}>
      <span class="sr">Last ticks of {name}, oldest first: </span>
      {rows.toReversed().map((tick) => (
        <Mark key={`${tick.slot} ${tick.at}`} tick={tick} />
      ))}
    </a>
  );
}

function Mark({ tick }: { tick: Tick }): JSX.Element {
  const { state, word } = tickMark(tick.outcome);
  return (
    <span title={`${word}, ${momentText(Date.parse(tick.slot), zone.value)}`}>
      <StateShape state={state} />
      <span class="sr">{word}. </span>
    </span>
  );
}

function useTicks(name: string, limit: number) {
  return useResource(
    `ticks ${name} ${limit}`,
    (signal) => call("listTicks", { params: { name }, query: { limit }, signal }),
    { on: [], everyMs: 30_000 },
  );
}

/** The ticks of one schedule, as a list. */
export function History({ name }: { name: string }): JSX.Element {
  const ticks = useTicks(name, SHOWN);
  return (
    <Panel
      flush
      title={name}
      sub={`last ${SHOWN} ticks`}
      aside={
        <ButtonLink kind="quiet" icon="close" href={href("schedules")}>
          Close
        </ButtonLink>
      }
    >
      <Loaded of={ticks}>
        {({ ticks: rows }) =>
          rows.length === 0 ? (
            <Empty title="No tick yet">
              A tick is written when a run is due, also when it is skipped or missed.
            </Empty>
          ) : (
            <div class="tick-list">
              <Table
                label={`Ticks of ${name}`}
                rows={rows}
                keyOf={({ slot, at }) => `${slot} ${at}`}
                columns={TICK_COLUMNS}
              />
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}

const TICK_COLUMNS: Parameters<typeof Table<Tick>>[0]["columns"] = [
  {
    id: "outcome",
    head: "What came of it",
    isName: true,
    cell: ({ outcome, since }) => {
      const { state, word } = tickMark(outcome);
      return (
        <span class={`state st-${state}`}>
          <StateShape state={state} />
          <span>{word}</span>
          {since !== null && (
            <span class="sub">
              since <Moment at={since} />
            </span>
          )}
        </span>
      );
    },
  },
  { id: "slot", head: "Due at", cell: ({ slot }) => <Moment at={slot} /> },
  { id: "at", head: "Written", isNumber: true, cell: ({ at }) => <Time at={at} /> },
  {
    id: "job",
    head: "Job",
    isNumber: true,
    cell: ({ jobId }) =>
      jobId === null ? (
        <span class="dim">–</span>
      ) : (
        <IdLink id={jobId} href={href(["jobs", jobId])} />
      ),
  },
];
