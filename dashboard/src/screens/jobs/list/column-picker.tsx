/** Chooses the columns and their order, and adds paths of the payload. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../../parts/basics.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Popover } from "../popover.tsx";
import { CHOICES, columnName, usualColumns } from "./columns.tsx";

export function ColumnPicker(props: {
  ids: readonly string[];
  onChange: (ids: readonly string[]) => void;
}): JSX.Element {
  const { ids, onChange } = props;
  const others = CHOICES.map(([id]) => id).filter((id) => !ids.includes(id));
  const move = (at: number, by: number): void => {
    const next = [...ids];
    next.splice(at + by, 0, ...next.splice(at, 1));
    onChange(next);
  };
  return (
    <Popover
      class="picker"
      summary={
        <>
          <Icon name="columns" />
          Columns <span class="dim">{ids.length}</span>
        </>
      }
    >
      <div class="picker-pop">
        <p class="cap">Shown, in this order</p>
        <ul>
          {ids.map((id, at) => (
            <li key={id}>
              <Choice id={id} isOn set={() => onChange(ids.filter((each) => each !== id))} />
              <Button
                kind="quiet"
                icon="up"
                label={`Move ${columnName(id)} forward`}
                disabled={at === 0}
                onClick={() => move(at, -1)}
              />
            </li>
          ))}
          {others.map((id) => (
            <li key={id}>
              <Choice id={id} isOn={false} set={() => onChange([...ids, id])} />
            </li>
          ))}
        </ul>
        <AddPath add={(path) => onChange([...ids.filter((each) => each !== path), path])} />
        <div class="picker-foot">
          <Button kind="quiet" onClick={() => onChange(usualColumns())}>
            Usual columns
          </Button>
        </div>
      </div>
    </Popover>
  );
}

function Choice({ id, isOn, set }: { id: string; isOn: boolean; set: () => void }): JSX.Element {
  const isPath = id.startsWith("payload.");
  return (
    <label class="row grow">
      <input class="box" type="checkbox" checked={isOn} disabled={id === "job"} onChange={set} />
      {isPath ? <code class="cut">{id}</code> : columnName(id)}
    </label>
  );
}

function AddPath({ add }: { add: (path: string) => void }): JSX.Element {
  const [path, setPath] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    const clean = path
      .trim()
      .replace(/^payload\./, "")
      .replaceAll(",", "");
    if (clean !== "") add(`payload.${clean}`);
    setPath("");
  };
  return (
    <form class="picker-add" onSubmit={submit}>
      <input
        class="field mono"
        aria-label="Add a path of the payload"
        placeholder="payload.order.total"
        value={path}
        onInput={(event) => setPath(event.currentTarget.value)}
      />
      <Button type="submit">Add</Button>
    </form>
  );
}
