/** The types that ran in the range, the busiest first, or in the order of a column. */
import type { JSX } from "preact";
import { durationText, numberText, percentText } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";
import { termText } from "../../lib/query.ts";
import { Cut, Panel } from "../../parts/basics.tsx";
import { Spark } from "../../parts/spark.tsx";
import { Empty } from "../../parts/notices.tsx";
import "../../parts/items.css";
import { inOrder, orderOf } from "../../parts/order.ts";
import { Table, type Column, type TableOrder } from "../../parts/table.tsx";
import type { RunSeries } from "./run-series.ts";
import { failedRuns, rateText, whenText, type Range, type TypeRow } from "./series.ts";

const SHOWN_MAX = 12;
/** A share of failed runs that must be seen. */
const BAD_RATE = 0.05;

export function TypesTable(props: {
  range: Range;
  series: RunSeries | null;
  order: TableOrder;
}): JSX.Element {
  const { range, series, order } = props;
  const rows = inOrder(series?.types ?? [], COLUMNS, orderOf(order.text));
  const more = rows.length - SHOWN_MAX;
  return (
    <Panel
      flush
      title="Types"
      sub={range.phrase}
      aside={<a href={href("lanes", { range: range.id, sort: order.text })}>All types</a>}
      {...(series?.cutShort === true || more > 0
        ? { foot: <Foot more={more} series={series} /> }
        : {})}
    >
      {series !== null && rows.length === 0 ? (
        <Empty title={`No run ended ${whenText(range)}`}>Choose another range above.</Empty>
      ) : (
        <Table
          label={`Types of ${range.phrase}`}
          order={order}
          class="types items"
          still
          columns={COLUMNS}
          rows={rows.slice(0, SHOWN_MAX)}
          keyOf={({ type, lane }) => `${type} ${lane}`}
          hrefOf={({ type }) => href(["lanes", "type", type])}
        />
      )}
    </Panel>
  );
}

function Foot({ more, series }: { more: number; series: RunSeries | null }): JSX.Element {
  return (
    <>
      {more > 0 && (
        <span>
          {more} more types are not shown. <a href={href("lanes")}>All types</a>
        </span>
      )}
      {series?.cutShort === true && (
        <span>
          There are too many figures: the oldest runs are left out. Choose a shorter range.
        </span>
      )}
    </>
  );
}

const ms = (value: number | null): string => (value === null ? "–" : durationText(value));

const COLUMNS: readonly Column<TypeRow>[] = [
  {
    id: "type",
    head: "Type",
    isName: true,
    cell: ({ type }) => (
      <a href={href(["lanes", "type", type])}>
        <Cut text={type} />
      </a>
    ),
  },
  { id: "lane", head: "Lane", isSecondary: true, cell: ({ lane }) => <Cut text={lane} /> },
  {
    id: "rate",
    head: "Ended/min",
    isNumber: true,
    rank: ({ perSecond }) => perSecond,
    cell: ({ perSecond }) => rateText(perSecond * 60),
  },
  {
    id: "errors",
    head: "Error rate",
    isNumber: true,
    rank: ({ errorRate }) => errorRate,
    cell: ({ errorRate }) => (
      <span class={errorRate !== null && errorRate >= BAD_RATE ? "bad" : ""}>
        {errorRate === null ? "–" : percentText(errorRate)}
      </span>
    ),
  },
  {
    id: "wait",
    head: "p95 wait",
    isNumber: true,
    rank: ({ wait }) => wait.p95,
    cell: ({ wait }) => ms(wait.p95),
  },
  {
    id: "run",
    head: "p95 run",
    isNumber: true,
    rank: ({ run }) => run.p95,
    cell: ({ run }) => ms(run.p95),
  },
  {
    id: "runs",
    head: "Runs",
    isSecondary: true,
    rank: ({ runs }) => runs,
    width: "c-trend",
    cell: ({ type, trend, runs }) => (
      <Spark values={trend} label={`Runs of ${type} over time, ${numberText(runs)} in all`} />
    ),
  },
  {
    id: "failed",
    head: "Failed runs",
    isNumber: true,
    rank: failedRuns,
    cell: (row) => {
      const failed = failedRuns(row);
      const q = `${termText({ key: "type", sign: ":", value: row.type })} state:failed`;
      if (failed === 0) return <span class="dim">0</span>;
      return (
        <a href={href("jobs", { q })} title={`Failed jobs of ${row.type}`}>
          {numberText(failed)}
        </a>
      );
    },
  },
];
