/** What the screens of types read. */
import { call, type AnswerOf } from "../../api/client.ts";
import type { GroupedStats, Pause } from "../../api/operations.gen.ts";
import { may } from "../../lib/session.ts";
import type { RunSeries } from "../overview/run-series.ts";
import type { TypeRow } from "../overview/series.ts";

export type TypeCounts = GroupedStats["groups"][number];

export interface TypesData {
  readonly types: AnswerOf<"listTypes">["types"];
  readonly counts: ReadonlyMap<string, TypeCounts>;
  /** The counts that stopped at a maximum. */
  readonly atLeast: readonly string[];
  readonly pauses: ReadonlyMap<string, Pause>;
}

export async function readTypes(signal: AbortSignal): Promise<TypesData> {
  const [{ types }, stats, pauses] = await Promise.all([
    call("listTypes", { signal }),
    call("getStatsBy", { params: { by: "type" }, signal }),
    may("listPauses") ? call("listPauses", { signal }) : null,
  ]);
  const ofTypes = pauses?.pauses.filter(({ kind }) => kind === "type") ?? [];
  return {
    types,
    counts: new Map(stats.groups.map((group) => [group.name, group])),
    atLeast: stats.atLeast,
    pauses: new Map(ofTypes.map((pause) => [pause.name, pause])),
  };
}

/** The figures by type; of a type in several lanes, those of its busiest one. */
export function figuresOf(series: RunSeries | null): ReadonlyMap<string, TypeRow> {
  const busiestLast = (series?.types ?? []).toSorted((one, other) => one.runs - other.runs);
  return new Map(busiestLast.map((row) => [row.type, row]));
}
