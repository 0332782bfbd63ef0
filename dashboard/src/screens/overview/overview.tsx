/** Overview: what needs a person first, then lanes, counts, running jobs, charts and types. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import { useResource } from "../../live/resource.ts";
import { zone } from "../../lib/prefs.ts";
import { setQuery } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { Choice, PageHead, Panel } from "../../parts/basics.tsx";
import { Empty, Failure } from "../../parts/notices.tsx";
import type { ScreenProps } from "../../shell/screens.ts";
import { Attention } from "./attention.tsx";
import { Charts } from "./charts.tsx";
import { LanesPanel } from "./lanes-panel.tsx";
import { readSeries } from "./run-series.ts";
import { RunningPanel } from "./running-panel.tsx";
import { RANGES, rangeOf, type Range } from "./series.ts";
import { StatesStrip } from "./states-strip.tsx";
import { TypesTable } from "./types-table.tsx";
import "./overview.css";

const QUICKSTART = `npm install millrace
npx millrace enqueue email '{"to":"ada@example.com"}'
npx millrace server --demo  # fills a page like this one`;

export function Overview({ query }: ScreenProps): JSX.Element {
  const range = rangeOf(query["range"]);
  const first = useResource("any", (signal) => call("listJobs", { query: { limit: 1 }, signal }), {
    restMs: 5_000,
    on: ["job:enqueued"],
  });
  const isEmpty = first.data.value?.jobs.length === 0;
  return (
    <>
      <PageHead title="Overview">
        {!isEmpty && may("getRunMetrics") && (
          <Choice
            label="Time range of the charts"
            value={range.id}
            options={RANGES.map(({ id, text }) => [id, text])}
            onChange={(id) => setQuery({ range: id })}
          />
        )}
      </PageHead>
      {isEmpty ? <FirstDay /> : <Numbers range={range} sort={query["sort"]} />}
    </>
  );
}

function Numbers({ range, sort }: { range: Range; sort: string | undefined }): JSX.Element {
  const maySeeRuns = may("getRunMetrics");
  const series = useResource(
    `runs ${range.id} ${zone.value}`,
    (signal) => (maySeeRuns ? readSeries(range, signal) : Promise.resolve(null)),
    { on: ["open", "reset"], everyMs: 20_000 },
  );
  const data = series.data.value;
  return (
    <>
      {may("getAttention") && (
        <div class="cols">
          <Attention />
          {may("listLanes") && <LanesPanel series={data} />}
        </div>
      )}
      <StatesStrip />
      {may("listRunning") && <RunningPanel series={data} />}
      {maySeeRuns && (
        <>
          <Failure of={series} />
          <Charts range={range} series={data} />
          <TypesTable
            range={range}
            series={data}
            order={{ text: sort, set: (text) => setQuery({ sort: text }) }}
          />
        </>
      )}
    </>
  );
}

function FirstDay(): JSX.Element {
  return (
    <Panel title="First day" flush>
      <Empty title="No jobs yet" command={QUICKSTART}>
        A job appears here as soon as one is enqueued. Try it from a terminal, beside the file or
        database that this page shows:
      </Empty>
    </Panel>
  );
}
