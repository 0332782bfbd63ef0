/** Workers: where they run, what they do, and whether they are heard. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { Worker } from "../../api/operations.gen.ts";
import { useResource } from "../../live/resource.ts";
import { bytesText, durationText, plural } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { toastProblem } from "../../lib/toasts.ts";
import { Button, ButtonLink, Cut, PageHead, Panel, Tag, Time } from "../../parts/basics.tsx";
import { ask } from "../../parts/dialog.tsx";
import { Gauge } from "../../parts/gauge.tsx";
import { Icon } from "../../parts/icon.tsx";
import "../../parts/items.css";
import { Empty, Loaded, Note } from "../../parts/notices.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import type { ScreenProps } from "../../shell/screens.ts";
import { healthOf } from "./health.ts";
import "../lanes/lanes.css";
import "./workers.css";

type Reload = () => Promise<void>;

const EXAMPLE = `import { openMillrace } from "millrace";

const mill = await openMillrace("sqlite:./millrace.db");
mill.work({ jobs: [email], lanes: { fast: 4, general: 16 } });`;

export function Workers({ path }: ScreenProps): JSX.Element {
  const [chosen] = path;
  const workers = useResource("workers", (signal) => call("listWorkers", { signal }), {
    restMs: 5_000,
    everyMs: 5_000,
  });
  const reload: Reload = () => workers.reload();
  return (
    <>
      <PageHead title="Workers" />
      {chosen !== undefined && <RunningOf key={chosen} id={chosen} />}
      <Panel flush title="Workers" sub={countsOf(workers.data.value?.workers ?? [])}>
        <Loaded of={workers}>
          {({ workers: rows }) =>
            rows.length === 0 ? (
              <Empty title="No worker has joined" command={EXAMPLE}>
                Jobs wait until a worker takes them. A worker appears here as soon as it has
                started:
              </Empty>
            ) : (
              <Table
                label="Workers"
                class="items workers"
                columns={columnsOf(reload)}
                rows={rows}
                keyOf={({ id }) => id}
                hrefOf={({ id }) => href(["workers", id])}
              />
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function countsOf(rows: readonly Worker[]): string {
  const silent = rows.filter(({ isAlive }) => !isAlive).length;
  const busy = rows.reduce((total, { running }) => total + running, 0);
  const slots = rows.reduce((total, row) => total + row.slots, 0);
  if (rows.length === 0) return "";
  return `${rows.length - silent} heard${silent === 0 ? "" : `, ${silent} silent`}, ${busy} of ${slots} slots busy`;
}

function columnsOf(reload: Reload): readonly Column<Worker>[] {
  return [
    { id: "worker", head: "Worker", isName: true, cell: (worker) => <Name worker={worker} /> },
    {
      id: "slots",
      head: "Slots",
      width: "c-gauge",
      cell: ({ host, pid, slots, running, isQuiet, isStopping }) => (
        <Gauge
          label={`Worker ${host} ${pid}`}
          slots={slots}
          running={running}
          isPaused={isQuiet || isStopping}
        />
      ),
    },
    {
      id: "running",
      head: "Running",
      isNumber: true,
      cell: ({ id, running, slots }) => (
        <a href={href(["workers", id])}>
          {running} of {slots}
        </a>
      ),
    },
    {
      id: "lanes",
      head: "Lanes",
      width: "named",
      cell: ({ lanes }) => <Cut text={lanes.length === 0 ? "all" : lanes.join(", ")} />,
    },
    ...versionColumns(),
    ...healthColumns(),
    {
      id: "actions",
      head: <span class="sr">Actions</span>,
      width: "c-actions",
      cell: (worker) => <Actions worker={worker} reload={reload} />,
    },
  ];
}

function versionColumns(): readonly Column<Worker>[] {
  return [
    {
      id: "types",
      head: "Types",
      isNumber: true,
      isSecondary: true,
      cell: ({ types }) => <span title={types.join(", ")}>{types.length}</span>,
    },
    {
      id: "version",
      head: "Version",
      isSecondary: true,
      cell: ({ version, appVersion }) => (
        <div class="versions">
          {appVersion !== null && <Cut text={appVersion} />}
          <span class="sub">Millrace {version}</span>
        </div>
      ),
    },
  ];
}

function healthColumns(): readonly Column<Worker>[] {
  const dash = <span class="dim">–</span>;
  return [
    {
      id: "heard",
      head: "Heard",
      isNumber: true,
      cell: ({ heartbeatAgoMs, isAlive }) => (
        <span class={isAlive ? "nw" : "nw warn"}>{durationText(heartbeatAgoMs)} ago</span>
      ),
    },
    {
      id: "memory",
      head: "Memory",
      isNumber: true,
      cell: (worker) => {
        const { memoryBytes } = healthOf(worker);
        return memoryBytes === null ? dash : bytesText(memoryBytes);
      },
    },
    {
      id: "lag",
      head: "Loop lag",
      isNumber: true,
      cell: (worker) => {
        const { loopLagMs, isLagging } = healthOf(worker);
        if (loopLagMs === null) return dash;
        return <span class={isLagging ? "warn" : ""}>{durationText(loopLagMs)}</span>;
      },
    },
  ];
}

function Name({ worker }: { worker: Worker }): JSX.Element {
  const { id, host, pid, tenant, joinedAt, isAlive, isQuiet, isStopping, takenBy } = worker;
  return (
    <div>
      <div class="row">
        <a class="strong wrap" href={href(["workers", id])} title={id}>
          {takenBy === null ? host : `sql (${takenBy})`}
        </a>
        {!isAlive && (
          <Tag tone="bad" title="Its jobs return to the queue when their leases end">
            <Icon name="failures" small />
            Silent
          </Tag>
        )}
        {isStopping && <Tag tone="warn">Stopping</Tag>}
        {isQuiet && !isStopping && <Tag title="It takes no new jobs">Quiet</Tag>}
        {tenant !== null && <Tag title="It takes jobs of one tenant">{tenant}</Tag>}
      </div>
      <div class="sub">
        pid {pid} · joined <Time at={joinedAt} />
      </div>
    </div>
  );
}

function Actions({ worker, reload }: { worker: Worker; reload: Reload }): JSX.Element | null {
  const { isAlive, isQuiet, isStopping } = worker;
  if (!isAlive || isStopping) return null;
  return (
    <div class="row acts">
      {!isQuiet && may("quietWorker") && (
        <Button onClick={() => askQuiet(worker, reload)}>Quiet…</Button>
      )}
      {isQuiet && may("resumeWorker") && (
        <Button onClick={() => void resumeNow(worker, reload)}>Resume</Button>
      )}
      {may("stopWorker") && (
        <Button kind="danger" onClick={() => askStop(worker, reload)}>
          Stop…
        </Button>
      )}
    </div>
  );
}

function askQuiet({ id, host, pid, running }: Worker, reload: Reload): void {
  ask({
    title: `Make worker ${host}, pid ${pid}, quiet?`,
    text: `It takes no new jobs; ${plural(running, "running job")} of it may end. A quiet worker stays quiet until an operator resumes it.`,
    count: 1,
    verb: "Make it quiet",
    keep: "Keep it taking jobs",
    act: async () => {
      await call("quietWorker", { params: { id } });
      await reload();
    },
  });
}

async function resumeNow({ id, host, pid }: Worker, reload: Reload): Promise<void> {
  try {
    await call("resumeWorker", { params: { id } });
    await reload();
  } catch (error) {
    toastProblem(`Worker ${host}, pid ${pid}, was not resumed`, error);
  }
}

function askStop({ id, host, pid, running }: Worker, reload: Reload): void {
  ask({
    title: `Stop worker ${host}, pid ${pid}?`,
    text: `It ends after the grace period. ${plural(running, "running job")} that is not done by then goes back to the queue without the loss of an attempt. Only what started its process can start it again.`,
    count: 1,
    verb: "Stop worker",
    keep: "Keep it running",
    isDangerous: true,
    act: async () => {
      await call("stopWorker", { params: { id } });
      await reload();
    },
  });
}

/** The jobs in the hands of one worker. */
function RunningOf({ id }: { id: string }): JSX.Element {
  const running = useResource(
    `running ${id}`,
    (signal) => call("countRunning", { params: { kind: "worker", name: id }, signal }),
    { on: ["job:started", "job:completed", "job:failed"], restMs: 2_000, everyMs: 10_000 },
  );
  return (
    <Panel
      title="Running jobs"
      sub={<span class="mono wrap">of worker {id}</span>}
      aside={
        <ButtonLink kind="quiet" icon="close" href={href("workers")}>
          Close
        </ButtonLink>
      }
    >
      <Loaded of={running} lines={2}>
        {({ ids, running: count, atLeast }) => (
          <>
            {ids.length === 0 && <p class="sub">It runs no job now.</p>}
            <ul class="running-ids">
              {ids.map((each) => (
                <li key={each}>
                  <a class="mono" href={href(["jobs", each])}>
                    {each}
                  </a>
                </li>
              ))}
            </ul>
            {count > ids.length && (
              <Note
                tone="info"
                title={`${plural(count, "job")}${atLeast ? " or more" : ""} in all`}
              />
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}
