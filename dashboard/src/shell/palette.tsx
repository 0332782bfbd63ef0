/** The command palette: jump to an id, a type, a screen, or do something. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { call } from "../api/client.ts";
import { useResource } from "../live/resource.ts";
import { isPaused } from "../live/feed.ts";
import { nextTheme, zone } from "../lib/prefs.ts";
import { termText } from "../lib/query.ts";
import { go, href } from "../lib/router.ts";
import { may, signOut } from "../lib/session.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { SCREENS } from "./screens.ts";

interface Command {
  readonly text: string;
  readonly kind: string;
  readonly icon: IconName;
  readonly run: () => void;
}

const SHOWN_MAX = 24;
const ID = /^(job_)?[0-9A-HJKMNP-TV-Z]{26}$|^[0-9a-f]{8}-[0-9a-f-]{27}$/i;
/** The form that a correlation id has when the caller gives none. */
const CORRELATION_ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i;

export function Palette({ close }: { close: () => void }): JSX.Element {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const types = useResource("palette-types", (signal) => call("listTypes", { signal }), { on: [] });
  const lanes = useResource(
    "palette-lanes",
    async (signal) => (may("listLanes") ? call("listLanes", { signal }) : { lanes: [] }),
    { on: [] },
  );
  const names = types.data.value?.types.map(({ type }) => type) ?? [];
  const found = matching(text.trim(), [
    ...commandsFor(text.trim()),
    ...screens(),
    ...ofTypes(names),
    ...ofLanes(lanes.data.value?.lanes.map(({ lane }) => lane) ?? []),
    ...searches(text.trim()),
  ]);
  const shown = found.slice(0, SHOWN_MAX);
  const moveTo = (index: number): void => {
    setAt(index);
    document.getElementById(`palette-${index}`)?.scrollIntoView({ block: "nearest" });
  };
  const choose = (command: Command | undefined): void => {
    if (command === undefined) return;
    close();
    command.run();
  };
  return (
    <Dialog title={<span class="sr">Command palette</span>} close={close}>
      <input
        class="field palette-field"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-label="Jump to id, type, screen or action"
        aria-activedescendant={shown.length === 0 ? undefined : `palette-${at}`}
        placeholder="Jump to id, type, screen or action"
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- A palette is opened to type.
        autoFocus
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") moveTo(Math.min(at + 1, shown.length - 1));
          else if (event.key === "ArrowUp") moveTo(Math.max(at - 1, 0));
          else if (event.key === "Enter") choose(shown[at]);
          else return;
          event.preventDefault();
        }}
      />
      <ul id="palette-list" class="palette" role="listbox" aria-label="What was found">
        {shown.map((command, index) => (
          <li
            key={`${command.kind} ${command.text}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => choose(command)}
            onMouseMove={() => setAt(index)}
          >
            <Icon name={command.icon} />
            <span class="cut">{command.text}</span>
            <span class="dim">{command.kind}</span>
          </li>
        ))}
        {shown.length === 0 && <li class="dim">Nothing has this name.</li>}
      </ul>
    </Dialog>
  );
}

/** All words must occur, in any order. */
function matching(text: string, commands: readonly Command[]): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/);
  return commands.filter((command) =>
    words.every((word) => `${command.kind} ${command.text}`.toLowerCase().includes(word)),
  );
}

function screens(): readonly Command[] {
  return SCREENS.filter(({ needs }) => may(needs)).map(({ id, name, icon }) => {
    return { text: name, kind: "screen", icon, run: () => go(href(id)) };
  });
}

function ofTypes(names: readonly string[]): readonly Command[] {
  return names.flatMap((type) => [
    {
      text: type,
      kind: "jobs of type",
      icon: "jobs" as const,
      run: () => go(href("jobs", { q: termText({ key: "type", sign: ":", value: type }) })),
    },
    {
      text: type,
      kind: "type",
      icon: "lanes" as const,
      run: () => go(href(["lanes", "type", type])),
    },
  ]);
}

function ofLanes(names: readonly string[]): readonly Command[] {
  return names.map((lane) => ({
    text: lane,
    kind: "jobs of lane",
    icon: "jobs",
    run: () => go(href("jobs", { q: termText({ key: "lane", sign: ":", value: lane }) })),
  }));
}

/** After what has the text as its name. */
function searches(text: string): readonly Command[] {
  if (text === "") return [];
  const run = (): void => go(href("jobs", { q: text }));
  return [{ text: `Search ${text}`, kind: "jobs", icon: "search", run }];
}

function commandsFor(text: string): readonly Command[] {
  return [
    ...(CORRELATION_ID.test(text) ? [correlationCommand(text)] : []),
    ...(ID.test(text) ? [jobCommand(text)] : []),
    {
      text: isPaused.value ? "Go on with live updates" : "Pause live updates",
      kind: "action",
      icon: "pause",
      run: () => (isPaused.value = !isPaused.value),
    },
    { text: "Change the theme", kind: "action", icon: "theme", run: nextTheme },
    {
      text: zone.value === "utc" ? "Show local times" : "Show times in UTC",
      kind: "action",
      icon: "schedules",
      run: () => (zone.value = zone.value === "utc" ? "local" : "utc"),
    },
    { text: "Sign out", kind: "action", icon: "out", run: () => void signOut() },
  ];
}

function jobCommand(id: string): Command {
  return { text: id, kind: "job", icon: "jobs", run: () => go(href(["jobs", id])) };
}

function correlationCommand(id: string): Command {
  const run = (): void => go(href("correlation", { id }));
  return { text: id, kind: "jobs of the correlation", icon: "correlation", run };
}
