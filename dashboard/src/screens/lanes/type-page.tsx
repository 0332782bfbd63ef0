/** One type: its settings and figures, what failed last, its schema, and a form that runs a job. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { Type } from "../../api/operations.gen.ts";
import { useResource } from "../../live/resource.ts";
import { countText, durationText, numberText, percentText } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { Button, Cut, Facts, IdLink, PageHead, Panel, Tag, Time } from "../../parts/basics.tsx";
import { openDialog } from "../../parts/dialog.tsx";
import { JsonValue } from "../../parts/json.tsx";
import { Empty, Loaded, Snippet } from "../../parts/notices.tsx";
import { Table } from "../../parts/table.tsx";
import { askCloseIntake, askPause, openIntakeNow, resumeNow } from "./control.ts";
import { PauseTag } from "./lane-parts.tsx";
import { IntakeTag, type Intakes } from "./lanes-table.tsx";
import { rateText } from "../overview/series.ts";
import { OverrideForm } from "./override.tsx";
import { RunForm } from "./run-form.tsx";
import { readTypes, type TypesData } from "./type-data.ts";
import { typeTerm, useIntakes } from "./types-table.tsx";
import { drainCommand } from "./shell-word.ts";

export function TypePage({ name }: { name: string }): JSX.Element {
  const types = useResource("types", readTypes, { restMs: 5_000, everyMs: 30_000 });
  const intakes = useIntakes();
  const reload = async (): Promise<void> => {
    await Promise.all([types.reload(), intakes.reload()]);
  };
  const data = types.data.value;
  const type = data?.types.find((each) => each.type === name);
  return (
    <>
      <PageHead title={name} sub={<a href={href("lanes")}>All lanes and types</a>}>
        {type !== undefined && data !== null && (
          <Actions type={type} data={data} intakes={intakes} reload={reload} />
        )}
      </PageHead>
      <Loaded of={types}>
        {(shown) => (
          <>
            <Settings name={name} type={type} data={shown} intakes={intakes} />
            <div class="cols">
              {may("getRunMetrics") && <Hour name={name} />}
              <LastFailures name={name} />
            </div>
            <div class="cols top-aligned">
              {may("enqueueJob") && (
                <RunForm
                  key={JSON.stringify(type?.payloadSchema)}
                  type={name}
                  schema={type?.payloadSchema}
                />
              )}
              <div class={may("enqueueJob") ? "c6 stack" : "c12 stack"}>
                <Schema type={type} />
                <Drain name={name} />
              </div>
            </div>
          </>
        )}
      </Loaded>
    </>
  );
}

function Actions(props: {
  type: Type;
  data: TypesData;
  intakes: Intakes;
  reload: () => Promise<void>;
}): JSX.Element {
  const { type, data, intakes, reload } = props;
  const { type: name } = type;
  const isPaused = data.pauses.has(name);
  const isClosed = intakes.data.value?.intakes.some(
    (each) => each.kind === "type" && each.name === name,
  );
  return (
    <>
      {may("overrideType") && (
        <Button
          icon="edit"
          onClick={() =>
            openDialog((close) => <OverrideForm type={type} close={close} reload={reload} />)
          }
        >
          Override…
        </Button>
      )}
      {isClosed === true && may("openIntake") && (
        <Button onClick={() => void openIntakeNow("type", name, reload)}>Open intake</Button>
      )}
      {isClosed === false && may("closeIntake") && (
        <Button onClick={() => askCloseIntake("type", name, reload)}>Close intake…</Button>
      )}
      {isPaused && may("resume") && (
        <Button icon="play" onClick={() => void resumeNow("type", name, reload)}>
          Resume
        </Button>
      )}
      {!isPaused && may("pause") && (
        <Button icon="pause" onClick={() => askPause("type", name, reload)}>
          Pause…
        </Button>
      )}
    </>
  );
}

function Settings(props: {
  name: string;
  type: Type | undefined;
  data: TypesData;
  intakes: Intakes;
}): JSX.Element {
  const { name, type, data } = props;
  const counts = data.counts.get(name);
  const pause = data.pauses.get(name);
  const closed = props.intakes.data.value?.intakes.find(
    (each) => each.kind === "type" && each.name === name,
  );
  const link = (state: "queued" | "held" | "scheduled" | "running" | "failed"): JSX.Element => (
    <a href={href("jobs", { q: `${typeTerm(name)} state:${state === "held" ? "queued" : state}` })}>
      {countText({ count: counts?.[state] ?? 0, atLeast: data.atLeast.includes(state) })}
    </a>
  );
  return (
    <Panel>
      <div class="stack">
        {(pause !== undefined || closed !== undefined || type === undefined) && (
          <div class="row">
            {pause !== undefined && (
              <>
                <PauseTag pause={pause} />
                <span class="sub wrap">“{pause.reason}”</span>
              </>
            )}
            <IntakeTag intake={closed} />
            {type === undefined && (
              <Tag tone="warn">No worker has declared this type: its jobs wait</Tag>
            )}
          </div>
        )}
        <Facts
          of={[
            ["Waiting", link("queued")],
            ["Held", link("held")],
            ["Scheduled", link("scheduled")],
            ["Running", link("running")],
            ["Failed", link("failed")],
          ]}
        />
        {type !== undefined && <SettingFacts type={type} />}
      </div>
    </Panel>
  );
}

function SettingFacts({ type }: { type: Type }): JSX.Element {
  const { lane, priority, maxAttempts, timeoutMs, services, appVersion, workers } = type;
  const isChanged = (name: "lane" | "priority" | "maxAttempts" | "timeoutMs"): JSX.Element | null =>
    type.override?.settings.includes(name) === true ? (
      <Tag tone="accent" title={`The code says ${String(type.declared[name] ?? "none")}`}>
        Override
      </Tag>
    ) : null;
  return (
    <Facts
      of={[
        ["Lane", [lane, isChanged("lane")]],
        ["Priority", [priority, isChanged("priority")]],
        ["Attempts", [maxAttempts, isChanged("maxAttempts")]],
        [
          "Timeout",
          [timeoutMs === null ? "none" : durationText(timeoutMs), isChanged("timeoutMs")],
        ],
        services.length > 0 && [
          "Services",
          services.map((service) => (
            <a key={service} href={href(["breakers", service])}>
              {service}
            </a>
          )),
        ],
        type.category !== null && ["Category", type.category],
        type.payloadVersion !== null && ["Payload version", type.payloadVersion],
        appVersion !== null && ["App version", appVersion],
        ["Workers", <a href={href("workers")}>{workers}</a>],
        ["Declared", <Time at={type.declaredAt} />],
      ]}
    />
  );
}

const NAMES = ["mean", "p50", "p95", "p99"] as const;

function Hour({ name }: { name: string }): JSX.Element {
  const hour = useResource(
    `hour ${name}`,
    (signal) => call("getRunMetrics", { query: { from: "1h", type: name }, signal }),
    { on: [], everyMs: 30_000 },
  );
  const total = hour.data.value?.total;
  const text = (of: "wait" | "run", at: (typeof NAMES)[number]): string => {
    const value = total?.[of][at] ?? null;
    return value === null ? "–" : durationText(value);
  };
  return (
    <Panel class="c4" title="Last hour">
      <Facts
        of={[
          ["Runs", numberText(total?.runs ?? 0)],
          ["Per minute", rateText((total?.perSecond ?? 0) * 60)],
          ["Error rate", total?.errorRate == null ? "–" : percentText(total.errorRate)],
        ]}
      />
      <table class="key">
        <caption class="sr">Wait and run time of the last hour</caption>
        <thead>
          <tr>
            <th scope="col">
              <span class="sr">Figure</span>
            </th>
            <th scope="col" class="num">
              Wait
            </th>
            <th scope="col" class="num">
              Run
            </th>
          </tr>
        </thead>
        <tbody>
          {NAMES.map((at) => (
            <tr key={at}>
              <th scope="row">{at}</th>
              <td class="num">{text("wait", at)}</td>
              <td class="num">{text("run", at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function LastFailures({ name }: { name: string }): JSX.Element {
  const failed = useResource(
    `failed ${name}`,
    (signal) => call("listJobs", { query: { type: name, state: ["failed"], limit: 5 }, signal }),
    { on: ["job:failed"], restMs: 5_000 },
  );
  return (
    <Panel
      class="c8"
      flush
      title="Last failures"
      aside={<a href={href("jobs", { q: `${typeTerm(name)} state:failed` })}>All failed jobs</a>}
    >
      <Loaded of={failed} lines={3}>
        {({ jobs }) =>
          jobs.length === 0 ? (
            <Empty title="No failed job" isWell>
              A job of this type that fails for good appears here with its error.
            </Empty>
          ) : (
            <Table
              label={`Last failures of ${name}`}
              rows={jobs}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => href(["jobs", id])}
              columns={[
                {
                  id: "id",
                  head: "Job",
                  isName: true,
                  cell: ({ id }) => <IdLink id={id} href={href(["jobs", id])} />,
                },
                {
                  id: "error",
                  head: "Error",
                  width: "c-error",
                  cell: ({ error }) => (
                    <Cut mono text={error === null ? "–" : `${error.name}: ${error.message}`} />
                  ),
                },
                {
                  id: "at",
                  head: "Failed",
                  isNumber: true,
                  cell: ({ finishedAt }) => <Time at={finishedAt} />,
                },
              ]}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

function Schema({ type }: { type: Type | undefined }): JSX.Element {
  const schema = type?.payloadSchema;
  const hasSchema = schema !== undefined && schema !== null;
  return (
    <Panel title="Payload schema" flush={!hasSchema}>
      {hasSchema ? (
        <JsonValue value={schema} label="the schema" />
      ) : (
        <Empty
          title="No schema"
          command={`defineJob({ type: "email", payload: z.object({ to: z.email() }) })`}
        >
          Workers declare the schema of a payload that is checked by a library with JSON Schema. The
          form then asks for each field:
        </Empty>
      )}
    </Panel>
  );
}

/** A drain pauses and waits; a page may be closed, so it is done in a terminal. */
function Drain({ name }: { name: string }): JSX.Element {
  return (
    <Panel title="Drain" sub="pause, and wait until none of its jobs runs any more">
      <Snippet text={drainCommand("type", name)} label="Copy the command" />
    </Panel>
  );
}
