/** Lanes and types: what has slots, what is limited, what can run; and one type by name. */
import type { JSX } from "preact";
import { useResource } from "../../live/resource.ts";
import { zone } from "../../lib/prefs.ts";
import { setQuery } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { Choice, PageHead } from "../../parts/basics.tsx";
import "../../parts/items.css";
import type { ScreenProps } from "../../shell/screens.ts";
import { readSeries } from "../overview/run-series.ts";
import { RANGES, rangeOf, type Range } from "../overview/series.ts";
import { LanesTable } from "./lanes-table.tsx";
import { Limits } from "./limits.tsx";
import { TypePage } from "./type-page.tsx";
import { TypesTable, useIntakes } from "./types-table.tsx";
import "./lanes.css";

export function Lanes({ path, query }: ScreenProps): JSX.Element {
  const [kind, name] = path;
  if (kind === "type" && name !== undefined) return <TypePage key={name} name={name} />;
  return <All range={rangeOf(query["range"])} sort={query["sort"]} />;
}

function All({ range, sort }: { range: Range; sort: string | undefined }): JSX.Element {
  const intakes = useIntakes();
  const series = useResource(
    `runs ${range.id} ${zone.value}`,
    (signal) => (may("getRunMetrics") ? readSeries(range, signal) : Promise.resolve(null)),
    { on: [], everyMs: 30_000 },
  );
  return (
    <>
      <PageHead title="Lanes and types">
        {may("getRunMetrics") && (
          <Choice
            label="Time range of the figures"
            value={range.id}
            options={RANGES.map(({ id, text }) => [id, text])}
            onChange={(id) => setQuery({ range: id })}
          />
        )}
      </PageHead>
      {may("listLanes") && <LanesTable intakes={intakes} series={series} />}
      <TypesTable
        intakes={intakes}
        range={range}
        series={series}
        order={{ text: sort, set: (text) => setQuery({ sort: text }) }}
      />
      {may("listLimits") && <Limits />}
    </>
  );
}
