/** The types that workers have declared: settings, figures of a range, what waits and fails. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { Quantiles, Type } from "../../api/operations.gen.ts";
import { useResource, type Resource } from "../../live/resource.ts";
import { countText, durationText, numberText } from "../../lib/format.ts";
import { termText } from "../../lib/query.ts";
import { href } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { Cut, Panel, Tag } from "../../parts/basics.tsx";
import { Empty, Failure, Skeleton } from "../../parts/notices.tsx";
import { inOrder, orderOf } from "../../parts/order.ts";
import { Table, type Column, type TableOrder } from "../../parts/table.tsx";
import type { RunSeries } from "../overview/run-series.ts";
import type { Range, TypeRow } from "../overview/series.ts";
import { PauseButton, PauseTag } from "./lane-parts.tsx";
import { IntakeTag, type Intakes } from "./lanes-table.tsx";
import { figuresOf, readTypes, type TypesData } from "./type-data.ts";

export function TypesTable(props: {
  intakes: Intakes;
  range: Range;
  series: Resource<RunSeries | null>;
  order: TableOrder;
}): JSX.Element {
  const { intakes, range, series, order } = props;
  const types = useResource("types", readTypes, { restMs: 5_000, everyMs: 30_000 });
  const data = types.data.value;
  const columns =
    data === null ? [] : columnsOf(data, figuresOf(series.data.value), intakes, types);
  return (
    <Panel flush title="Types" sub={`figures of ${range.phrase}`}>
      <Failure of={types} />
      <Failure of={series} />
      {data === null && types.error.value === null && <Skeleton />}
      {data !== null && data.types.length === 0 && (
        <Empty title="No types yet" command={DECLARE}>
          A type appears when a worker that runs it has started:
        </Empty>
      )}
      {data !== null && data.types.length > 0 && (
        <Table
          label="Types"
          class="items types-all"
          columns={columns}
          rows={inOrder(data.types, columns, orderOf(order.text))}
          order={order}
          keyOf={({ type }) => type}
          hrefOf={({ type }) => href(["lanes", "type", type])}
        />
      )}
    </Panel>
  );
}

const DECLARE = `const email = defineJob({ type: "email" }).run(() => {});
const worker = mill.work({ jobs: [email] });`;

export function typeTerm(type: string): string {
  return termText({ key: "type", sign: ":", value: type });
}

function columnsOf(
  data: TypesData,
  figures: ReadonlyMap<string, TypeRow>,
  intakes: Intakes,
  types: Resource<TypesData>,
): readonly Column<Type>[] {
  const closed = intakes.data.value?.intakes ?? [];
  return [
    {
      id: "type",
      head: "Type",
      isName: true,
      rank: ({ type }) => type,
      cell: (type) => <TypeName type={type} data={data} closed={closed} />,
    },
    {
      id: "actions",
      head: <span class="sr">Actions</span>,
      width: "c-actions",
      cell: ({ type }) => (
        <div class="row acts">
          <PauseButton
            kind="type"
            name={type}
            isPaused={data.pauses.has(type)}
            reload={() => types.reload()}
          />
        </div>
      ),
    },
    ...countColumns(data),
    { id: "lane", head: "Lane", cell: ({ lane }) => <Cut text={lane} /> },
    ...figureColumns(figures),
    // What leaves the screen first where there is little room.
    ...settingColumns(),
  ];
}

function TypeName(props: {
  type: Type;
  data: TypesData;
  closed: readonly Parameters<typeof IntakeTag>[0]["intake"][];
}): JSX.Element {
  const { type, data, closed } = props;
  const pause = data.pauses.get(type.type);
  return (
    <span class="row">
      <a class="strong wrap" href={href(["lanes", "type", type.type])}>
        {type.type}
      </a>
      {pause !== undefined && <PauseTag pause={pause} />}
      <IntakeTag intake={closed.find((each) => each?.kind === "type" && each.name === type.type)} />
      {type.override !== null && (
        <Tag tone="accent" title={`Changed by an operator: ${type.override.settings.join(", ")}`}>
          Override
        </Tag>
      )}
      {type.isDisputed && (
        <Tag tone="warn" title="Living workers have declared the type differently">
          Disputed
        </Tag>
      )}
      {type.workers === 0 && (
        <Tag tone="warn" title="No living worker runs this type: its jobs wait">
          No worker
        </Tag>
      )}
    </span>
  );
}

/** Ordered by their p95, and by the runs behind them. */
function figureColumns(figures: ReadonlyMap<string, TypeRow>): readonly Column<Type>[] {
  return [
    {
      id: "wait",
      head: "Wait p50 · p95 · p99",
      isNumber: true,
      rank: ({ type }) => figures.get(type)?.wait.p95 ?? null,
      cell: ({ type }) => <Three of={figures.get(type)?.wait} />,
    },
    {
      id: "run",
      head: "Run p50 · p95 · p99",
      isNumber: true,
      rank: ({ type }) => figures.get(type)?.run.p95 ?? null,
      cell: ({ type }) => <Three of={figures.get(type)?.run} />,
    },
    {
      id: "runs",
      head: "Runs",
      isNumber: true,
      rank: ({ type }) => figures.get(type)?.runs ?? 0,
      cell: ({ type }) => numberText(figures.get(type)?.runs ?? 0),
    },
  ];
}

function settingColumns(): readonly Column<Type>[] {
  return [
    {
      id: "settings",
      head: "Priority",
      isNumber: true,
      isSecondary: true,
      cell: ({ priority }) => priority,
    },
    {
      id: "attempts",
      head: "Attempts",
      isNumber: true,
      isSecondary: true,
      cell: ({ maxAttempts }) => maxAttempts,
    },
    {
      id: "timeout",
      head: "Timeout",
      isNumber: true,
      isSecondary: true,
      cell: ({ timeoutMs }) => (timeoutMs === null ? "none" : durationText(timeoutMs)),
    },
    {
      id: "services",
      head: "Services",
      isSecondary: true,
      cell: ({ services }) =>
        services.length === 0 ? (
          <span class="dim">–</span>
        ) : (
          services.map((service) => (
            <a key={service} class="listed" href={href(["breakers", service])}>
              {service}
            </a>
          ))
        ),
    },
    {
      id: "version",
      head: "App",
      isSecondary: true,
      cell: ({ appVersion }) => <Cut text={appVersion ?? "–"} />,
    },
  ];
}

function countColumns(data: TypesData): readonly Column<Type>[] {
  type Count = "queued" | "held" | "failed";
  const numberOf = (type: string, name: Count): number => data.counts.get(type)?.[name] ?? 0;
  const countOf = (type: string, name: Count): JSX.Element => {
    const count = numberOf(type, name);
    const text = countText({ count, atLeast: count > 0 && data.atLeast.includes(name) });
    return (
      <a
        class={count === 0 ? "dim" : name === "failed" ? "bad" : ""}
        href={href("jobs", { q: `${typeTerm(type)} state:${name === "held" ? "queued" : name}` })}
      >
        {text}
      </a>
    );
  };
  const column = (name: Count, head: string): Column<Type> => ({
    id: name,
    head,
    isNumber: true,
    rank: ({ type }) => numberOf(type, name),
    cell: ({ type }) => countOf(type, name),
  });
  return [column("queued", "Waiting"), column("held", "Held"), column("failed", "Failed")];
}

function Three({ of }: { of: Quantiles | undefined }): JSX.Element {
  const text = (value: number | null): string => (value === null ? "–" : durationText(value));
  if (of === undefined || of.p50 === null) return <span class="dim">–</span>;
  return (
    <span>
      <span class="dim">{text(of.p50)} ·</span> {text(of.p95)}{" "}
      <span class="dim">· {text(of.p99)}</span>
    </span>
  );
}

/** Which types and lanes take no new jobs. */
export function useIntakes(): Intakes {
  return useResource(
    "intakes",
    async (signal) => (may("listIntakes") ? call("listIntakes", { signal }) : { intakes: [] }),
    { on: [], everyMs: 30_000 },
  );
}
