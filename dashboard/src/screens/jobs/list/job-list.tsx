/** Jobs: a dense table, a query bar, views, and what can be done to many. */
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { call } from "../../../api/client.ts";
import type { Job } from "../../../api/operations.gen.ts";
import { useResource } from "../../../live/resource.ts";
import { countText } from "../../../lib/format.ts";
import { href, setQuery } from "../../../lib/router.ts";
import { may } from "../../../lib/session.ts";
import { ButtonLink, PageHead, Panel } from "../../../parts/basics.tsx";
import { Failure, Skeleton } from "../../../parts/notices.tsx";
import { Table } from "../../../parts/table.tsx";
import { actOnChosen, copyId, mayAct, retryOne, type Action } from "../act.tsx";
import { keepNeighbours } from "../neighbours.ts";
import { act, BulkBar, type BulkProps } from "./bulk-bar.tsx";
import { ColumnPicker } from "./column-picker.tsx";
import { columnIds, columnsOf, keepColumns } from "./columns.tsx";
import { jobQueryOf, type JobQuery } from "./job-query.ts";
import { CutShort, Foot, NewChip, NoJobs, WrongTerms } from "./list-notes.tsx";
import { QueryBar } from "./query-bar.tsx";
import type { Known } from "./suggest.ts";
import { useJobList } from "./use-job-list.ts";
import { Views } from "./views.tsx";

/** With more columns the table scrolls in its frame, so that the job keeps its room. */
const USUAL_COLUMNS = 9;

export function JobList({ query }: { query: Readonly<Record<string, string>> }): JSX.Element {
  const { q = "", after, cols } = query;
  const key = `${q}\n${after ?? ""}`;
  const jobQuery = useMemo(() => jobQueryOf(q, Date.now()), [q]);
  const { list, loadNew } = useJobList(key, jobQuery, after);
  const known = useKnown();
  const total = useTotal(q, jobQuery);
  const bulk = useBulk(q, jobQuery, total, () => void list.reload());
  const ids = columnIds(cols);
  const listed = list.data.value;
  const rows = listed?.rows ?? [];
  useEffect(() => keepNeighbours({ ids: rows.map(({ id }) => id), q }), [rows, q]);
  const search = (text: string): void => setQuery({ q: text, after: undefined });
  return (
    <>
      <PageHead title="Jobs">
        {may("enqueueJob") && (
          <ButtonLink href={href("lanes")} kind="primary" icon="plus">
            Run a job
          </ButtonLink>
        )}
      </PageHead>
      <Views text={q} cols={cols} canSave={jobQuery.wrong.length === 0} />
      <QueryBar
        text={q}
        known={known}
        wrong={new Set(jobQuery.wrong.map(({ text }) => text))}
        onChange={search}
      />
      <WrongTerms wrong={jobQuery.wrong} />
      <div class="list-line">
        <b>{total === null ? "" : `${total} ${total === "1" ? "job" : "jobs"}`}</b>
        {listed !== null && (
          <CutShort listed={listed} jobQuery={jobQuery} q={q} after={after} cols={cols} />
        )}
        <span class="push" />
        {listed !== null && after === undefined && <NewChip listed={listed} load={loadNew} />}
        <ColumnPicker ids={ids} onChange={(next) => setQuery({ cols: keepColumns(next) })} />
      </div>
      <Failure of={list} />
      <Panel flush class="jobs-panel">
        <h2 class="sr">List of jobs</h2>
        {listed === null && list.error.value === null && <Skeleton lines={8} />}
        {listed !== null && rows.length === 0 && (
          <NoJobs q={q} jobQuery={jobQuery} listed={listed} />
        )}
        {rows.length > 0 && (
          <Table
            label="Jobs"
            class={ids.length > USUAL_COLUMNS ? "jobs many" : "jobs"}
            columns={columnsOf(ids)}
            rows={rows}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => href(["jobs", id])}
            selection={{ ids: bulk.chosen, set: bulk.choose }}
            rowKeys={rowKeysOf(bulk.props, () => void list.reload())}
          />
        )}
        {listed !== null && <Foot listed={listed} q={q} after={after} cols={cols} />}
      </Panel>
      <BulkBar {...bulk.props} />
    </>
  );
}

/** The keys act on the selection, or else on the row under the cursor. */
function rowKeysOf(bulk: BulkProps, ended: () => void) {
  const many = (action: Action, one: (job: Job) => void) => (job: Job) => {
    if (!mayAct(action)) return;
    if (bulk.ids.length > 0) act(action, bulk);
    else one(job);
  };
  return {
    r: many("retry", (job) => void retryOne(job, false, ended)),
    c: many("cancel", (job) => actOnChosen("cancel", [job.id], ended)),
    y: (job: Job) => void copyId(job.id),
  };
}

function useBulk(q: string, { bulk: filter }: JobQuery, total: string | null, ended: () => void) {
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const [isAll, setAll] = useState(false);
  const clear = (): void => {
    choose(new Set());
    setAll(false);
  };
  useEffect(clear, [q]);
  const props: BulkProps = { ids: [...chosen], isAll, setAll, total, filter, clear, ended };
  return { chosen, choose, props };
}

/** The count comes after the rows, and less often. */
function useTotal(q: string, { query, wrong, keep }: JobQuery): string | null {
  const isCounted = wrong.length === 0 && keep === null;
  const count = useResource(
    `count ${q}`,
    async (signal) => {
      if (!isCounted) return null;
      const { total } = await call("listJobs", {
        query: { ...query, count: "true", limit: 1 },
        signal,
      });
      return total ?? null;
    },
    { on: ["job:"], restMs: 15_000 },
  );
  const { value } = count.data;
  // A search that found nothing before it stopped knows no number.
  if (value === null || (value.count === 0 && value.atLeast)) return null;
  return countText(value);
}

/** Names for the suggestions. A list that may not be read is empty. */
function useKnown(): Known {
  const read = useResource(
    "known",
    async (signal) => {
      const [types, lanes, tenants] = await Promise.allSettled([
        may("listTypes") ? call("listTypes", { signal }) : { types: [] },
        may("listLanes") ? call("listLanes", { signal }) : { lanes: [] },
        may("listTenants")
          ? call("listTenants", { query: { limit: 200 }, signal })
          : { tenants: [] },
      ]);
      return {
        types: types.status === "fulfilled" ? types.value.types.map(({ type }) => type) : [],
        lanes: lanes.status === "fulfilled" ? lanes.value.lanes.map(({ lane }) => lane) : [],
        tenants:
          tenants.status === "fulfilled" ? tenants.value.tenants.map(({ tenant }) => tenant) : [],
      };
    },
    { on: [] },
  );
  return read.data.value ?? NOTHING_KNOWN;
}

const NOTHING_KNOWN: Known = { types: [], lanes: [], tenants: [] };
