/** The top bar: where the page is, the jump field, live or not, zone and theme. */
import type { JSX } from "preact";
import { isPaused, liveState } from "../live/feed.ts";
import { nextTheme, theme, zone } from "../lib/prefs.ts";
import { href, place } from "../lib/router.ts";
import { session } from "../lib/session.ts";
import { shortId } from "../lib/format.ts";
import { Button } from "../parts/basics.tsx";
import { openDialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { Palette } from "./palette.tsx";
import { SCREENS } from "./screens.ts";

export function TopBar(): JSX.Element {
  const tenant = session.value?.tenant ?? null;
  return (
    <header class="top">
      <Crumbs />
      {tenant !== null && <span class="tag accent">Tenant {tenant}</span>}
      <button
        type="button"
        class="jump"
        onClick={() => openDialog((close) => <Palette close={close} />)}
      >
        <Icon name="search" />
        <span>Jump to id, type, screen…</span>
        <kbd aria-hidden="true">⌘K</kbd>
      </button>
      <LiveSwitch />
      <span class="zone">
        <Button
          kind="quiet"
          title={zone.value === "utc" ? "Show local times" : "Show times in UTC"}
          onClick={() => (zone.value = zone.value === "utc" ? "local" : "utc")}
        >
          {zone.value === "utc" ? "UTC" : "Local"}
        </Button>
      </span>
      <Button kind="quiet" icon="theme" label={`Theme: ${theme.value}`} onClick={nextTheme} />
    </header>
  );
}

function Crumbs(): JSX.Element {
  const [id = "overview", ...rest] = place.value.path;
  const name = SCREENS.find((screen) => screen.id === id)?.name ?? id;
  return (
    <nav class={rest.length === 0 ? "crumbs single" : "crumbs"} aria-label="Where you are">
      <a href={href(id)}>{name}</a>
      {rest.map((part) => (
        <span key={part} title={part}>
          / {part.length > 20 ? shortId(part) : part}
        </span>
      ))}
    </nav>
  );
}

const LIVE_WORDS = { live: "Live", paused: "Paused", connecting: "Connecting" } as const;

function LiveSwitch(): JSX.Element {
  return (
    <button
      type="button"
      class={`btn quiet live ${liveState.value}`}
      aria-pressed={!isPaused.value}
      title={isPaused.value ? "Go on with live updates (p)" : "Pause live updates (p)"}
      onClick={() => (isPaused.value = !isPaused.value)}
    >
      <span class="dot" aria-hidden="true" />
      {LIVE_WORDS[liveState.value]}
    </button>
  );
}
