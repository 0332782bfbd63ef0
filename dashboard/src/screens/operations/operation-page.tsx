/** One operation: its filter, its counts, and the outcome of every item. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { call, type AnswerOf } from "../../api/client.ts";
import type { Operation } from "../../api/operations.gen.ts";
import { useResource, type Resource } from "../../live/resource.ts";
import { numberText, plural } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import {
  Button,
  Choice,
  CopyButton,
  Facts,
  IdLink,
  Lasted,
  PageHead,
  Panel,
  Time,
} from "../../parts/basics.tsx";
import { ask } from "../../parts/dialog.tsx";
import { Empty, Loaded, Note } from "../../parts/notices.tsx";
import { State, type StateName } from "../../parts/state.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { skippedText } from "../jobs/act.tsx";
import { endedOf, filterText, skippedOf, titleOf } from "./operation-text.ts";
import { OperationMeter, StatusView } from "./operation-parts.tsx";

export function OperationPage({ id }: { id: string }): JSX.Element {
  const read = useResource(
    `operation ${id}`,
    (signal) => call("getOperation", { params: { id }, signal }),
    {
      on: ["job:"],
      restMs: 1_500,
      everyMs: 2_000,
    },
  );
  const operation = read.data.value;
  const isOpen = operation?.status === "running" || operation?.status === "pending";
  return (
    <>
      <PageHead title={operation === null ? "Operation" : titleOf(operation)}>
        {operation !== null && isOpen && may("stopOperation") && (
          <Button kind="danger" icon="stop" onClick={() => stop(operation, read)}>
            Stop…
          </Button>
        )}
      </PageHead>
      <Loaded of={read} lines={6}>
        {(data) => <Shown operation={data} />}
      </Loaded>
      <Items id={id} isOpen={isOpen} />
    </>
  );
}

function stop(operation: Operation, read: Resource<Operation>): void {
  const left = Math.max(0, operation.expected - endedOf(operation));
  ask({
    title: "Stop this operation?",
    text: "What is done stays done. The rest is not touched; start a new operation to go on.",
    count: left,
    verb: `Leave out ${plural(left, "item")}`,
    keep: "Let it run",
    isDangerous: true,
    act: async () => {
      read.set(await call("stopOperation", { params: { id: operation.id } }));
    },
  });
}

function Shown({ operation }: { operation: Operation }): JSX.Element {
  const { expected, expectedAtLeast, done, failed, error, skipped } = operation;
  const filter = filterText(operation);
  const left = skippedOf(operation);
  return (
    <>
      <Facts
        of={[
          ["Status", <StatusView key="status" operation={operation} />],
          ["Id", <IdValue key="id" id={operation.id} />],
          ["By", operation.actor],
          ["Reason", operation.reason],
          operation.tenant !== null && ["Tenant", operation.tenant],
          [
            "Rate",
            `${numberText(operation.rate)} per second, ${numberText(operation.chunk)} at a time`,
          ],
          ["Started", <Time key="at" at={operation.createdAt} />],
          operation.startedAt !== null && [
            "Took",
            <Lasted key="took" from={operation.startedAt} to={operation.finishedAt} />,
          ],
          operation.stoppedBy !== null && ["Stopped by", operation.stoppedBy],
        ]}
      />
      {error !== null && (
        <Note tone="bad" title="The operation has failed">
          {error.name}: {error.message}
        </Note>
      )}
      <Panel
        title="Progress"
        sub={filter === "" ? undefined : <FilterLink operation={operation} text={filter} />}
      >
        <div class="op-detail">
          <p class="big">
            <b>{numberText(endedOf(operation))}</b>
            <span>
              of {numberText(expected)}
              {expectedAtLeast ? "+" : ""} {operation.target === "jobs" ? "jobs" : "dead letters"}
            </span>
          </p>
          <OperationMeter operation={operation} />
          <p class="row op-counts">
            <Count state="completed" count={done} word="done" />
            {failed > 0 && <Count state="failed" count={failed} word="failed" />}
            {left > 0 && <Count state="cancelled" count={left} word="left out" />}
            <span class="dim">{skippedText(skipped)}</span>
          </p>
        </div>
      </Panel>
    </>
  );
}

/** The jobs that match now: the terms that Jobs knows too. */
function FilterLink({ operation, text }: { operation: Operation; text: string }): JSX.Element {
  const { filter, target } = operation;
  const isQuery = filter !== null && target === "jobs" && filter.createdFrom === undefined;
  if (!isQuery || filter.createdBefore !== undefined || filter.runningMs !== undefined) {
    return <code>{text}</code>;
  }
  return (
    <a class="mono" href={href("jobs", { q: text })} title="Show the jobs that match now">
      {text}
    </a>
  );
}

function IdValue({ id }: { id: string }): JSX.Element {
  return (
    <>
      <code>{id}</code>
      <CopyButton text={id} label="Copy id" />
    </>
  );
}

function Count(props: { state: StateName; count: number; word: string }): JSX.Element {
  return (
    <span class="row">
      <State state={props.state} alone /> {numberText(props.count)} {props.word}
    </span>
  );
}

type Item = AnswerOf<"listOperationItems">["items"][number];
type Outcome = Item["outcome"];
const OUTCOMES: readonly (readonly ["all" | Outcome, string])[] = [
  ["all", "All"],
  ["done", "Done"],
  ["failed", "Failed"],
  ["skipped", "Left out"],
];
const PAGE = 50;

function Items({ id, isOpen }: { id: string; isOpen: boolean }): JSX.Element {
  const [outcome, setOutcome] = useState<"all" | Outcome>("all");
  const [places, setPlaces] = useState<readonly number[]>([]);
  const after = places.at(-1);
  const read = useResource(
    `items ${id} ${outcome} ${after ?? ""} ${isOpen}`,
    (signal) =>
      call("listOperationItems", {
        params: { id },
        query: {
          limit: PAGE,
          ...(outcome === "all" ? {} : { outcome }),
          ...(after === undefined ? {} : { after }),
        },
        signal,
      }),
    isOpen ? { on: ["job:"], restMs: 3_000 } : { on: [] },
  );
  return (
    <Panel
      title="Items"
      flush
      aside={
        <Choice
          label="Outcome"
          value={outcome}
          options={OUTCOMES}
          onChange={(next) => {
            setOutcome(next);
            setPlaces([]);
          }}
        />
      }
    >
      <Loaded of={read} lines={6}>
        {({ items, next }) => (
          <>
            {items.length === 0 ? (
              <Empty title="No item is here">
                {outcome === "all"
                  ? "Items appear as the operation reaches them."
                  : "Choose “All” to see the others."}
              </Empty>
            ) : (
              <Table
                label="Items"
                class="op-items"
                columns={ITEM_COLUMNS}
                rows={items}
                keyOf={({ n }) => String(n)}
                hrefOf={({ jobId }) => href(["jobs", jobId])}
              />
            )}
            {(next !== null || after !== undefined) && (
              <footer class="panel-foot">
                <span class="push" />
                <Button
                  disabled={after === undefined}
                  onClick={() => setPlaces(places.slice(0, -1))}
                >
                  Before
                </Button>
                <Button
                  disabled={next === null}
                  onClick={() => next !== null && setPlaces([...places, next])}
                >
                  More
                </Button>
              </footer>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

const ITEM_STATES: Readonly<Record<Outcome, readonly [StateName, string]>> = {
  done: ["completed", "Done"],
  failed: ["failed", "Failed"],
  skipped: ["cancelled", "Left out"],
};

const ITEM_COLUMNS: readonly Column<Item>[] = [
  { id: "n", head: "No.", isNumber: true, width: "w-n", cell: ({ n }) => numberText(n) },
  {
    id: "outcome",
    head: "Outcome",
    width: "w-outcome",
    cell: ({ outcome }) => {
      const [state, word] = ITEM_STATES[outcome];
      return (
        <span class="row">
          <State state={state} alone /> {word}
        </span>
      );
    },
  },
  {
    id: "job",
    head: "Job",
    isName: true,
    cell: ({ jobId }) => (
      <a class="mono" href={href(["jobs", jobId])}>
        {jobId}
      </a>
    ),
  },
  {
    id: "code",
    head: "Why",
    cell: ({ code }) => (code === null ? <span class="dim">–</span> : <code>{code}</code>),
  },
  {
    id: "successor",
    head: "Repeated as",
    cell: ({ successorId }) =>
      successorId === null ? (
        <span class="dim">–</span>
      ) : (
        <IdLink id={successorId} href={href(["jobs", successorId])} />
      ),
  },
];
