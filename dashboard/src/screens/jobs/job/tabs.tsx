/** Payload, result, errors, logs, history and the raw job. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../../api/client.ts";
import { useResource } from "../../../live/resource.ts";
import { Panel } from "../../../parts/basics.tsx";
import { Json, JsonValue } from "../../../parts/json.tsx";
import { Empty, Loaded } from "../../../parts/notices.tsx";
import { Errors } from "./errors.tsx";
import type { Details } from "./details.ts";
import { History } from "./history/history.tsx";
import { Logs } from "./logs.tsx";

type Tab = "payload" | "result" | "errors" | "logs" | "history" | "raw";

export function Tabs({ details }: { details: Details }): JSX.Element {
  const { job, attempts, failedUnits } = details;
  const errors = attempts.filter(({ error }) => error !== null).length + failedUnits.length;
  const [chosen, choose] = useState<Tab>(
    job.state === "failed" || errors > 0 ? "errors" : "payload",
  );
  const names: readonly (readonly [Tab, string, number])[] = [
    ["payload", "Payload", 0],
    ["result", "Result", 0],
    ["errors", "Errors", errors],
    ["logs", "Logs", 0],
    ["history", "History", 0],
    ["raw", "Raw", 0],
  ];
  const move = (by: number): void => {
    const at = names.findIndex(([name]) => name === chosen);
    const [next] = names[(at + by + names.length) % names.length] ?? [chosen];
    choose(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <Panel flush class="tabbed">
      <div class="tabs" role="tablist" aria-label="Details">
        {names.map(([name, text, count]) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === chosen}
            aria-controls="tab-panel"
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => choose(name)}
            onKeyDown={(event) => {
              if (event.key === "ArrowRight") move(1);
              else if (event.key === "ArrowLeft") move(-1);
            }}
          >
            {text}
            {count > 0 && <span class="count">{count}</span>}
          </button>
        ))}
      </div>
      <div
        class="panel-body"
        role="tabpanel"
        id="tab-panel"
        aria-labelledby={`tab-${chosen}`}
        tabIndex={0}
      >
        {chosen === "payload" && <Text details={details} part="payload" />}
        {chosen === "result" && <Text details={details} part="result" />}
        {chosen === "errors" && <Errors details={details} />}
        {chosen === "logs" && <Logs id={job.id} isRunning={job.state === "running"} />}
        {chosen === "history" && <History id={job.id} />}
        {chosen === "raw" && <JsonValue value={details} label="the job with its attempts" />}
      </div>
    </Panel>
  );
}

const EMPTY: Readonly<Record<"payload" | "result", string>> = {
  payload: "The job has no payload",
  result: "There is no result",
};

/** The stored text itself, so that large numbers stay exact. */
function Text({
  details: { job },
  part,
}: {
  details: Details;
  part: "payload" | "result";
}): JSX.Element {
  const texts = useResource(
    `texts ${job.id} ${job.finishedAt ?? ""}`,
    (signal) => call("getJobTexts", { params: { id: job.id }, signal }),
    { on: [] },
  );
  const isDamaged = job.damaged?.includes(part) === true;
  if (isDamaged) {
    return (
      <Empty title={`The ${part} cannot be read`}>
        What is stored is no JSON. “millrace doctor” looks into it.
      </Empty>
    );
  }
  return (
    <Loaded of={texts}>
      {(read) => {
        const text = read[part];
        if (text !== null) return <Json text={text} label={`the ${part}`} />;
        return (
          <Empty title={EMPTY[part]}>
            {part === "result"
              ? "What the handler returns appears here when the job has completed."
              : "It was enqueued without one."}
          </Empty>
        );
      }}
    </Loaded>
  );
}
