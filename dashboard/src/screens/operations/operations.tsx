/** Operations: one action on many jobs or dead letters, and how far it is. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Operation } from "../../api/operations.gen.ts";
import { useResource } from "../../live/resource.ts";
import { numberText, shortId } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";
import { Button, Choice, Cut, Lasted, PageHead, Panel, Time } from "../../parts/basics.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import type { ScreenProps } from "../../shell/screens.ts";
import { OperationPage } from "./operation-page.tsx";
import { OperationMeter, StatusView } from "./operation-parts.tsx";
import { endedOf, filterText, titleOf } from "./operation-text.ts";
import "./operations.css";

export function OperationsScreen({ path: [id] }: ScreenProps): JSX.Element {
  return id === undefined ? <OperationList /> : <OperationPage key={id} id={id} />;
}

type Status = Operation["status"];
const STATUSES: readonly (readonly ["all" | Status, string])[] = [
  ["all", "All"],
  ["running", "Running"],
  ["completed", "Completed"],
  ["stopped", "Stopped"],
  ["failed", "Failed"],
];
const PAGE = 50;
const COMMAND = `npx millrace jobs cancel --where --type email --state queued --reason "wrong list"`;

function OperationList(): JSX.Element {
  const [status, setStatus] = useState<"all" | Status>("all");
  const [places, setPlaces] = useState<readonly string[]>([]);
  const after = places.at(-1);
  const read = useResource(
    `operations ${status} ${after ?? ""}`,
    (signal) =>
      call("listOperations", {
        query: {
          limit: PAGE,
          ...(status === "all" ? {} : { status }),
          ...(after === undefined ? {} : { after }),
        },
        signal,
      }),
    { on: ["job:"], restMs: 3_000, everyMs: 5_000 },
  );
  const choose = (next: "all" | Status): void => {
    setStatus(next);
    setPlaces([]);
  };
  return (
    <>
      <PageHead title="Operations">
        <Choice label="Status" value={status} options={STATUSES} onChange={choose} />
      </PageHead>
      <Panel flush>
        <h2 class="sr">List of operations</h2>
        <Loaded of={read} lines={6}>
          {({ operations, next }) => (
            <>
              {operations.length === 0 ? (
                <None status={status} />
              ) : (
                <Table
                  label="Operations"
                  class="operations"
                  still
                  columns={COLUMNS}
                  rows={operations}
                  keyOf={({ id }) => id}
                  hrefOf={({ id }) => href(["operations", id])}
                />
              )}
              {(next !== null || after !== undefined) && (
                <footer class="panel-foot">
                  <span class="push" />
                  <Button
                    disabled={after === undefined}
                    onClick={() => setPlaces(places.slice(0, -1))}
                  >
                    Newer
                  </Button>
                  <Button
                    disabled={next === null}
                    onClick={() => next !== null && setPlaces([...places, next])}
                  >
                    Older
                  </Button>
                </footer>
              )}
            </>
          )}
        </Loaded>
      </Panel>
    </>
  );
}

function None({ status }: { status: "all" | Status }): JSX.Element {
  if (status !== "all")
    return <Empty title={`No operation is ${status}`}>Choose “All” to see the others.</Empty>;
  return (
    <Empty title="Nothing was done to many jobs yet" command={COMMAND}>
      Retry, cancel, delete or change many jobs at once: choose “All matching” in the list of jobs,
      or use the command line. The operation appears here with its progress and the outcome of every
      item.
    </Empty>
  );
}

const COLUMNS: readonly Column<Operation>[] = [
  {
    id: "status",
    head: "Status",
    width: "w-status",
    cell: (operation) => <StatusView operation={operation} />,
  },
  {
    id: "operation",
    head: "Operation",
    isName: true,
    cell: (operation) => (
      <span class="cut" title={`${titleOf(operation)} ${filterText(operation)}`}>
        <a href={href(["operations", operation.id])}>{titleOf(operation)}</a>{" "}
        <span class="dim">{filterText(operation)}</span>
      </span>
    ),
  },
  {
    id: "progress",
    head: "Progress",
    width: "w-progress",
    cell: (operation) => <ProgressCell operation={operation} />,
  },
  {
    id: "reason",
    head: "Reason",
    isSecondary: true,
    width: "w-reason",
    cell: ({ reason }) => <Cut text={reason} />,
  },
  { id: "actor", head: "By", width: "w-actor", cell: ({ actor }) => <Cut text={actor} /> },
  {
    id: "rate",
    head: "Rate",
    isNumber: true,
    isSecondary: true,
    width: "w-number",
    cell: ({ rate }) => `${numberText(rate)}/s`,
  },
  {
    id: "took",
    head: "Took",
    isNumber: true,
    isSecondary: true,
    width: "w-number",
    cell: ({ startedAt, finishedAt }) => <Lasted from={startedAt} to={finishedAt} />,
  },
  {
    id: "age",
    head: "Started",
    isNumber: true,
    width: "w-number",
    cell: ({ createdAt, id }) => (
      <span title={shortId(id)}>
        <Time at={createdAt} />
      </span>
    ),
  },
];

function ProgressCell({ operation }: { operation: Operation }): JSX.Element {
  const { expected, expectedAtLeast, failed } = operation;
  return (
    <span class="op-progress">
      <OperationMeter operation={operation} />
      <span class="nw">
        {numberText(endedOf(operation))} of {numberText(expected)}
        {expectedAtLeast ? "+" : ""}
        {failed > 0 && <span class="bad">, {numberText(failed)} failed</span>}
      </span>
    </span>
  );
}
