/** How far the job has come. */
import type { JSX } from "preact";
import type { Phase } from "../../../api/operations.gen.ts";
import { numberText } from "../../../lib/format.ts";
import { isPaused } from "../../../live/feed.ts";
import { Lasted, Meter, Panel } from "../../../parts/basics.tsx";
import { JsonValue } from "../../../parts/json.tsx";
import { State } from "../../../parts/state.tsx";
import type { Details } from "./details.ts";
import { phaseState } from "./waterfall-layout.ts";

/** A job without phases and units that has told nothing has no progress to show. */
export function hasProgress({ progress, job }: Details): boolean {
  const { units, phases, percent, data } = progress;
  const hasTold = phases.length > 0 || units.total > 0 || (data ?? null) !== null;
  return hasTold || (percent > 0 && job.state !== "completed");
}

export function ProgressPanel({ details: { progress, job } }: { details: Details }): JSX.Element {
  const { units, phases, percent, data, phase } = progress;
  const hasUnits = units.total > 0;
  const isLive = job.state === "running" && !isPaused.value;
  return (
    <Panel
      title="Progress"
      aside={
        isLive && (
          <span class="live dim row">
            <span class="dot" aria-hidden="true" />
            live
          </span>
        )
      }
    >
      <div class="job-progress">
        <p class="big">
          <b>{hasUnits ? numberText(units.completed + units.failed) : `${percent} %`}</b>
          <span>
            {hasUnits ? `of ${numberText(units.total)} units ended` : wordOf(details(job, phases))}
          </span>
          {hasUnits && <span class="push dim">{percent} %</span>}
        </p>
        <Meter label={meterLabel(progress)} parts={meterParts(progress)} />
        {phases.length > 0 && (
          <ul class="phases">
            {phases.map((each) => (
              <PhaseLine key={each.name} phase={each} isNow={each.name === phase} />
            ))}
          </ul>
        )}
        {data !== undefined && data !== null && (
          <JsonValue value={data} label="what the job reports" />
        )}
      </div>
    </Panel>
  );
}

function details(job: Details["job"], phases: readonly Phase[]) {
  return {
    state: job.state,
    done: phases.filter(({ state }) => state === "completed").length,
    all: phases.length,
    wasStarted: job.startedAt !== null,
  };
}

function wordOf({ state, done, all, wasStarted }: ReturnType<typeof details>): string {
  if (all > 0) return `${done} of ${all} phases completed`;
  if (state === "running") return "reported by the handler";
  if (state === "queued" || state === "scheduled")
    return wasStarted ? "waits to run again" : "not started";
  return "of the work";
}

function meterParts({ units, percent, state }: Details["progress"]) {
  const { total, completed, failed, running } = units;
  if (total > 0) {
    return [
      { share: completed / total, tone: "good" },
      { share: failed / total, tone: "bad" },
      { share: running / total, tone: "run" },
    ] as const;
  }
  return [
    {
      share: percent / 100,
      tone: state === "running" ? "run" : state === "failed" ? "bad" : "good",
    },
  ] as const;
}

function meterLabel({ units, percent }: Details["progress"]): string {
  if (units.total === 0) return `${percent} percent`;
  return `${units.completed} completed, ${units.failed} failed, ${units.running} running, ${units.planned} waiting`;
}

function PhaseLine({ phase, isNow }: { phase: Phase; isNow: boolean }): JSX.Element {
  const { name, state, startedAt, finishedAt, percent } = phase;
  return (
    <li>
      <State state={phaseState(phase)} alone />
      <span class={isNow && state !== "completed" ? "cut now" : "cut"} title={name}>
        {name}
      </span>
      <span class="dim">
        {startedAt === null && "not started"}
        {startedAt !== null && state === "running" && `${percent} %, `}
        {startedAt !== null && <Lasted from={startedAt} to={finishedAt} />}
      </span>
    </li>
  );
}
