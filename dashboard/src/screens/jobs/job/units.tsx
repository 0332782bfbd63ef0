/** Units as a grid. A click shows the result or the error of one. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { call, type AnswerOf } from "../../../api/client.ts";
import type { Unit } from "../../../api/operations.gen.ts";
import { useResource } from "../../../live/resource.ts";
import { numberText } from "../../../lib/format.ts";
import { Button, Choice, Panel, Time } from "../../../parts/basics.tsx";
import { Dialog, openDialog } from "../../../parts/dialog.tsx";
import { JsonValue } from "../../../parts/json.tsx";
import { Loaded } from "../../../parts/notices.tsx";
import { State, type StateName } from "../../../parts/state.tsx";
import { errorLine } from "../list/job-text.ts";
import { ErrorView } from "./errors.tsx";

const STATES: Readonly<Record<Unit["state"], StateName>> = {
  planned: "queued",
  running: "running",
  completed: "completed",
  failed: "failed",
};
const PAGE = 60;

export function Units(props: { id: string; progress: AnswerOf<"getJobProgress"> }): JSX.Element {
  const { id, progress } = props;
  const [only, setOnly] = useState<"all" | "failed">("all");
  const [places, setPlaces] = useState<readonly string[]>([]);
  const after = places.at(-1);
  const units = useResource(
    `units ${id} ${only} ${after ?? ""}`,
    (signal) =>
      call("listUnits", {
        params: { id },
        query: {
          limit: PAGE,
          ...(only === "failed" ? { state: "failed" as const } : {}),
          ...(after === undefined ? {} : { after }),
        },
        signal,
      }),
    { on: progress.state === "running" ? ["job:unit"] : ["job:retrying"], restMs: 3_000 },
  );
  const { total, failed, completed, running, planned } = progress.units;
  return (
    <Panel
      title="Units"
      sub={<Counts of={{ completed, failed, running, planned }} />}
      aside={
        <Choice
          label="Which units"
          value={only}
          options={[
            ["all", `All ${numberText(total)}`],
            ["failed", `Failed ${numberText(failed)}`],
          ]}
          onChange={(next) => {
            setOnly(next);
            setPlaces([]);
          }}
        />
      }
    >
      <Loaded of={units}>
        {({ units: shown, next }) => (
          <>
            {shown.length === 0 && (
              <p class="dim">No unit {only === "failed" ? "has failed" : "is here yet"}.</p>
            )}
            <ul class="units">
              {shown.map((unit) => (
                <UnitView key={`${unit.phase} ${unit.key}`} unit={unit} />
              ))}
            </ul>
            {(next !== null || after !== undefined) && (
              <div class="row units-pages">
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
              </div>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function Counts({ of }: { of: Readonly<Record<string, number>> }): JSX.Element {
  const words: readonly (readonly [StateName, string, string])[] = [
    ["completed", "completed", "completed"],
    ["failed", "failed", "failed"],
    ["running", "running", "running"],
    ["queued", "planned", "waiting"],
  ];
  return (
    <span class="unit-counts">
      {words
        .filter(([, name]) => (of[name] ?? 0) > 0)
        .map(([state, name, word]) => (
          <span key={name}>
            <State state={state} alone /> {numberText(of[name] ?? 0)} {word}
          </span>
        ))}
    </span>
  );
}

function UnitView({ unit }: { unit: Unit }): JSX.Element {
  const { key, state, error, phase } = unit;
  const message = errorLine(error);
  return (
    <li>
      <button
        type="button"
        class={`unit ${state}`}
        title={[key, phase ?? "", message].filter(Boolean).join("\n")}
        onClick={() => openDialog((close) => <UnitDialog unit={unit} close={close} />)}
      >
        <State state={STATES[state]} alone />
        <span class="mono cut">{key}</span>
        {message !== "" && <span class="unit-error cut">{message}</span>}
      </button>
    </li>
  );
}

function UnitDialog({ unit, close }: { unit: Unit; close: () => void }): JSX.Element {
  return (
    <Dialog
      title={`Unit ${unit.key}`}
      close={close}
      wide
      foot={<Button onClick={close}>Close</Button>}
    >
      <div class="stack">
        <p class="dim">
          <State state={STATES[unit.state]} /> {unit.phase !== null && `in ${unit.phase}, `}
          <Time at={unit.at} />
        </p>
        {unit.error !== null && <ErrorView error={unit.error} />}
        {unit.result !== undefined && unit.result !== null && (
          <JsonValue value={unit.result} label="the result" />
        )}
      </div>
    </Dialog>
  );
}
