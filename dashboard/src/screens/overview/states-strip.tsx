/** What there is now, and what ended in the last day; each count opens its list. */
import type { JSX } from "preact";
import { call, type AnswerOf } from "../../api/client.ts";
import { useResource } from "../../live/resource.ts";
import { countText, durationText, numberText, percentText, plural } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { State, type StateName } from "../../parts/state.tsx";
import { failedRuns } from "./series.ts";

type Stats = AnswerOf<"getStats">;
type Counted = { readonly count: number; readonly atLeast: boolean };

interface Ended {
  readonly total: AnswerOf<"getRunMetrics">["total"] | null;
  readonly errors: Counted | null;
  readonly failed: Counted | null;
  readonly cancelled: Counted | null;
}

export function StatesStrip(): JSX.Element {
  const now = useResource("stats", (signal) => call("getStats", { signal }), { restMs: 2_000 });
  const ended = useResource("ended", readEnded, { on: [], everyMs: 60_000 });
  return (
    <section class="panel strip" aria-label="Counts by state">
      <Now stats={now.data.value} />
      <Day ended={ended.data.value} />
    </section>
  );
}

/**
 * Runs are counted by their outcome, exactly and for long; a run that failed may be tried again, and
 * the figures know no errors of units. Jobs that ended so are counted from the list.
 */
async function readEnded(signal: AbortSignal): Promise<Ended> {
  const count = async (state: "completed_with_errors" | "failed" | "cancelled") => {
    const query = { state: [state], created_after: "24h", count: "true", limit: 1 } as const;
    return (await call("listJobs", { query, signal })).total ?? null;
  };
  const [total, errors, failed, cancelled] = await Promise.all([
    may("getRunMetrics")
      ? call("getRunMetrics", { query: { from: "24h" }, signal }).then((answer) => answer.total)
      : null,
    count("completed_with_errors"),
    count("failed"),
    count("cancelled"),
  ]);
  return { total, errors, failed, cancelled };
}

function Now({ stats }: { stats: Stats | null }): JSX.Element {
  const of = (name: "queued" | "held" | "running" | "retrying"): string | null =>
    stats === null
      ? null
      : countText({ count: stats[name], atLeast: stats.atLeast.includes(name) });
  const later =
    stats === null
      ? null
      : countText({
          count: stats.scheduled - stats.retrying,
          atLeast: stats.atLeast.includes("scheduled"),
        });
  const oldest = stats?.oldestQueuedMs ?? null;
  return (
    <div>
      <h2>Now</h2>
      <Figure state="queued" count={of("queued")} q="state:queued">
        {oldest === null ? "none waits" : `oldest ${durationText(oldest)}`}
      </Figure>
      <Figure state="held" count={of("held")} q="state:queued">
        behind a gate
      </Figure>
      <Figure state="running" count={of("running")} q="state:running">
        in a slot
      </Figure>
      <Figure state="retrying" count={of("retrying")} q="state:retrying">
        after a run
      </Figure>
      <Figure state="scheduled" count={later} q="state:scheduled">
        for later
      </Figure>
    </div>
  );
}

function Day({ ended }: { ended: Ended | null }): JSX.Element {
  const total = ended?.total ?? null;
  const text = (value: Counted | null | undefined): string | null =>
    value === null || value === undefined ? null : countText(value);
  const failures = total === null ? 0 : failedRuns(total);
  return (
    <div>
      <h2>Ended in the last 24 hours</h2>
      <Figure
        state="completed"
        count={total === null ? null : numberText(total.outcomes.succeeded)}
        q="state:completed age<24h"
      >
        {`of ${numberText(total?.runs ?? 0)} runs`}
      </Figure>
      <Figure
        state="completed_with_errors"
        count={text(ended?.errors)}
        q="state:completed_with_errors age<24h"
      >
        some units failed
      </Figure>
      <Figure state="failed" count={text(ended?.failed)} q="state:failed age<24h">
        {failures === 0
          ? "no failed run"
          : `${plural(failures, "failed run")}, ${percentText(total?.errorRate ?? 0)}`}
      </Figure>
      <Figure state="cancelled" count={text(ended?.cancelled)} q="state:cancelled age<24h">
        {`${numberText(total?.outcomes.cancelled ?? 0)} while running`}
      </Figure>
    </div>
  );
}

function Figure(props: {
  state: StateName;
  count: string | null;
  q: string;
  children: string;
}): JSX.Element {
  return (
    <a href={href("jobs", { q: props.q })}>
      <b>{props.count ?? "–"}</b>
      <State state={props.state} short />
      <small>{props.count === null ? "" : props.children}</small>
    </a>
  );
}
