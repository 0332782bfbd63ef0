/** Lanes and types: what has slots, what is limited, what can run; and one type by name. */
import type { JSX } from "preact";
import { may } from "../../lib/session.ts";
import { PageHead } from "../../parts/basics.tsx";
import "../../parts/items.css";
import type { ScreenProps } from "../../shell/screens.ts";
import { LanesTable } from "./lanes-table.tsx";
import { Limits } from "./limits.tsx";
import { TypePage } from "./type-page.tsx";
import { TypesTable, useIntakes } from "./types-table.tsx";
import "./lanes.css";

export function Lanes({ path }: ScreenProps): JSX.Element {
  const [kind, name] = path;
  if (kind === "type" && name !== undefined) return <TypePage key={name} name={name} />;
  return <All />;
}

function All(): JSX.Element {
  const intakes = useIntakes();
  return (
    <>
      <PageHead title="Lanes and types" />
      {may("listLanes") && <LanesTable intakes={intakes} />}
      <TypesTable intakes={intakes} />
      {may("listLimits") && <Limits />}
    </>
  );
}
