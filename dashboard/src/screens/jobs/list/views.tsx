/** Queries with a name: some are always there, others people have saved. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../../api/client.ts";
import { useResource } from "../../../live/resource.ts";
import { href } from "../../../lib/router.ts";
import { may } from "../../../lib/session.ts";
import { problemText } from "../../../lib/toasts.ts";
import { Button } from "../../../parts/basics.tsx";
import { columnIds, columnName } from "./columns.tsx";
import { savedQuery, savedText, type SavedQuery } from "./saved-query.ts";
import { ask, Dialog, Field, openDialog } from "../../../parts/dialog.tsx";

const BUILT_IN: readonly (readonly [string, string])[] = [
  ["All", ""],
  ["Running", "state:running"],
  ["Failed", "state:failed"],
  ["Retrying", "state:retrying"],
  ["Scheduled", "state:scheduled"],
];

export function Views(props: {
  text: string;
  cols: string | undefined;
  /** The query is understood. */
  canSave: boolean;
}): JSX.Element {
  const { text, cols, canSave } = props;
  const read = useResource(
    "views",
    (signal) => (may("listViews") ? call("listViews", { signal }) : Promise.resolve({ views: [] })),
    { on: [] },
  );
  const saved = (read.data.value?.views ?? [])
    .filter(({ screen }) => screen === "jobs")
    .map(({ name, query }) => ({ name, ...savedQuery(query) }));
  const isHere = (view: SavedQuery): boolean =>
    view.q === text && (view.cols === undefined || view.cols === cols);
  const mine = saved.find(isHere);
  // The columns of a saved view are its own: another view does not take them over.
  const kept = mine?.cols === undefined ? cols : undefined;
  const isKnown = mine !== undefined || (cols === undefined && isBuiltIn(text));
  return (
    <nav class="views" aria-label="Views">
      {BUILT_IN.map(([name, q]) => (
        <ViewLink
          key={name}
          name={name}
          q={q}
          cols={kept}
          isHere={q === text && mine?.cols === undefined}
        />
      ))}
      {saved.map((view) => (
        <ViewLink
          key={`saved ${view.name}`}
          name={view.name}
          q={view.q}
          cols={view.cols ?? kept}
          isHere={isHere(view)}
        />
      ))}
      {!isKnown && canSave && may("saveView") && (
        <Button
          kind="quiet"
          icon="plus"
          onClick={() =>
            openDialog((close) => (
              <SaveView query={{ q: text, cols }} close={close} saved={() => read.reload()} />
            ))
          }
        >
          Save view
        </Button>
      )}
      {mine !== undefined && may("removeView") && (
        <Button
          kind="quiet"
          icon="trash"
          label={`Remove the view ${mine.name}`}
          onClick={() => removeView(mine.name, () => void read.reload())}
        />
      )}
    </nav>
  );
}

function isBuiltIn(text: string): boolean {
  return BUILT_IN.some(([, q]) => q === text);
}

function ViewLink(props: {
  name: string;
  q: string;
  cols: string | undefined;
  isHere: boolean;
}): JSX.Element {
  const { name, q, cols, isHere } = props;
  return (
    <a
      href={href("jobs", { q, cols })}
      title={q === "" ? "All jobs" : q}
      {...(isHere ? { "aria-current": "page" } : {})}
    >
      {name}
    </a>
  );
}

function SaveView(props: {
  query: SavedQuery;
  close: () => void;
  saved: () => Promise<void>;
}): JSX.Element {
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (name.trim() === "") return;
    try {
      await call("saveView", {
        params: { name: name.trim() },
        body: { screen: "jobs", query: savedText(props.query) },
      });
      await props.saved();
      props.close();
    } catch (error) {
      setProblem(problemText(error));
    }
  };
  return (
    <Dialog title="Save this view" close={props.close}>
      <form onSubmit={(event) => void save(event)}>
        <p>
          Everyone who may see jobs gets a tab for{" "}
          {props.query.q === "" ? "all jobs" : <code>{props.query.q}</code>}
          {props.query.cols !== undefined && `, with the columns ${namesOf(props.query.cols)}`}.
        </p>
        <Field label="Name" problem={problem}>
          <input
            class="field"
            maxLength={60}
            required
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </Field>
        <div class="row">
          <Button kind="primary" type="submit">
            Save view
          </Button>
          <Button onClick={props.close}>Leave it</Button>
        </div>
      </form>
    </Dialog>
  );
}

function namesOf(cols: string): string {
  return columnIds(cols).map(columnName).join(", ");
}

function removeView(name: string, ended: () => void): void {
  ask({
    title: `Remove the view ${name}?`,
    text: "The tab goes away for everyone. No job changes.",
    count: 1,
    verb: "Remove view",
    keep: "Keep it",
    isDangerous: true,
    act: async () => {
      await call("removeView", { params: { name } });
      ended();
    },
  });
}
