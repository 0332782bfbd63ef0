/** Queries with a name: some are always there, others people have saved. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../../api/client.ts";
import { useResource } from "../../../live/resource.ts";
import { href } from "../../../lib/router.ts";
import { may } from "../../../lib/session.ts";
import { problemText } from "../../../lib/toasts.ts";
import { Button } from "../../../parts/basics.tsx";
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
  const saved = (read.data.value?.views ?? []).filter(({ screen }) => screen === "jobs");
  const isKnown = [...BUILT_IN.map(([, q]) => q), ...saved.map(({ query }) => query)].includes(
    text,
  );
  const mine = saved.find(({ query }) => query === text);
  return (
    <nav class="views" aria-label="Views">
      {BUILT_IN.map(([name, q]) => (
        <ViewLink key={name} name={name} q={q} cols={cols} isHere={q === text} />
      ))}
      {saved.map(({ name, query }) => (
        <ViewLink key={`saved ${name}`} name={name} q={query} cols={cols} isHere={query === text} />
      ))}
      {!isKnown && canSave && may("saveView") && (
        <Button
          kind="quiet"
          icon="plus"
          onClick={() =>
            openDialog((close) => (
              <SaveView text={text} close={close} saved={() => read.reload()} />
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
  text: string;
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
        body: { screen: "jobs", query: props.text },
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
          Everyone who may see jobs gets a tab for <code>{props.text}</code>.
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
