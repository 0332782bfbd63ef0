/** Log lines: the newest first read, or from the beginning; they follow while the job runs. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../../../api/client.ts";
import type { LogLine } from "../../../api/operations.gen.ts";
import { useResource } from "../../../live/resource.ts";
import { momentText } from "../../../lib/format.ts";
import { markedJson } from "../../../lib/inexact.ts";
import { zone } from "../../../lib/prefs.ts";
import { Button, Choice, CopyButton } from "../../../parts/basics.tsx";
import { Empty, Loaded } from "../../../parts/notices.tsx";

const PAGE = 200;
const FOLLOW_MS = 2_000;
const LEVELS = ["debug", "info", "warn", "error"] as const;
type Level = (typeof LEVELS)[number];

const COMMAND = `ctx.log.info("rendered", { pages: 41 });`;

export function Logs({ id, isRunning }: { id: string; isRunning: boolean }): JSX.Element {
  const [level, setLevel] = useState<Level>("debug");
  const [after, setAfter] = useState<number | null>(null);
  const lines = useResource(
    `logs ${id} ${after ?? "newest"} ${isRunning}`,
    (signal) =>
      call("listLogLines", {
        params: { id },
        query: { limit: PAGE, ...(after === null ? {} : { after }) },
        signal,
      }),
    isRunning && after === null ? { on: ["job:"], everyMs: FOLLOW_MS } : { on: ["job:retrying"] },
  );
  return (
    <Loaded of={lines}>
      {({ lines: read, next }) => {
        if (read.length === 0 && after === null) {
          return (
            <Empty title="The job has logged nothing" command={COMMAND}>
              What a handler writes with ctx.log appears here while the job runs, and stays with it.
            </Empty>
          );
        }
        const shown = read.filter((line) => LEVELS.indexOf(line.level) >= LEVELS.indexOf(level));
        return (
          <div class="job-logs">
            <div class="row">
              <Choice
                label="Lowest level"
                value={level}
                options={LEVELS.map((each) => [each, each] as const)}
                onChange={setLevel}
              />
              <span class="dim">
                {after === null ? `the newest ${read.length} lines` : `from line ${after + 1}`}
                {isRunning && after === null && ", following"}
              </span>
              <span class="push" />
              {after === null ? (
                read[0] !== undefined &&
                read[0].line > 1 && <Button onClick={() => setAfter(0)}>From the beginning</Button>
              ) : (
                <Button onClick={() => setAfter(null)}>Newest lines</Button>
              )}
              {after !== null && next !== null && (
                <Button onClick={() => setAfter(next)}>More lines</Button>
              )}
              <CopyButton text={shown.map(lineText).join("\n")} label="Copy these lines" />
            </div>
            <Lines lines={shown} isFollowing={isRunning && after === null} />
          </div>
        );
      }}
    </Loaded>
  );
}

function Lines({
  lines,
  isFollowing,
}: {
  lines: readonly LogLine[];
  isFollowing: boolean;
}): JSX.Element {
  const frame = useRef<HTMLOListElement>(null);
  const last = lines.at(-1)?.line;
  useEffect(() => {
    if (isFollowing && frame.current !== null) frame.current.scrollTop = frame.current.scrollHeight;
  }, [last, isFollowing]);
  return (
    <ol ref={frame} class="job-log" tabIndex={0} aria-label="Log lines">
      {lines.map((line) => (
        <li key={line.line}>
          <time dateTime={line.at} title={momentText(Date.parse(line.at), zone.value)}>
            {momentText(Date.parse(line.at), zone.value).slice(11, 23)}
          </time>
          <span class={`level ${line.level}`}>{line.level}</span>
          <span class="wrap">
            {line.message}
            {line.fields !== null && <span class="dim"> {markedJson(line.fields)}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}

function lineText({ at, level, message, fields }: LogLine): string {
  return [at, level, message, ...(fields === null ? [] : [markedJson(fields)])].join(" ");
}
