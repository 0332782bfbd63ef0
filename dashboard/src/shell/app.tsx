/** The frame of the page: side bar, top bar, the screen, and what lies over them. */
import { signal } from "@preact/signals";
import type { ComponentType, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { ApiProblem, isSignedOut } from "../api/client.ts";
import { isPaused, startFeed } from "../live/feed.ts";
import { useKeys } from "../lib/keys.ts";
import { nextTheme } from "../lib/prefs.ts";
import { awaitQueryBar } from "../lib/query-focus.ts";
import { go, href, place } from "../lib/router.ts";
import { readSession, session } from "../lib/session.ts";
import { PageHead } from "../parts/basics.tsx";
import { Dialogs, openDialog } from "../parts/dialog.tsx";
import { Empty, Note, Skeleton } from "../parts/notices.tsx";
import { Help } from "./help.tsx";
import { Palette } from "./palette.tsx";
import { SCREENS, type ScreenProps } from "./screens.ts";
import { SideBar } from "./side-bar.tsx";
import { SignIn, SignInAgain } from "./sign-in.tsx";
import { Toasts } from "./toasts.tsx";
import { TopBar } from "./top-bar.tsx";

const startProblem = signal<string | null>(null);

export function App(): JSX.Element {
  useEffect(() => {
    void start();
    return startFeed();
  }, []);
  useKeys({
    "?": () => openDialog((close) => <Help close={close} />),
    "mod+k": () => openDialog((close) => <Palette close={close} />),
    p: () => (isPaused.value = !isPaused.value),
    t: nextTheme,
    Escape: () => history.back(),
    "/": focusQuery,
    ...Object.fromEntries(SCREENS.map(({ id, key }) => [`g ${key}`, () => go(href(id))])),
    // Types are on the screen of lanes.
    "g k": () => go(href("lanes")),
  });
  if (session.value === null) return <Outside />;
  return (
    <div class="app">
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the content
      </a>
      <SideBar />
      <div class="main">
        <TopBar />
        <main id="main" class="page" tabIndex={-1}>
          <CurrentScreen />
        </main>
      </div>
      <Dialogs />
      {isSignedOut.value && <SignInAgain />}
      <Toasts />
    </div>
  );
}

async function start(): Promise<void> {
  try {
    await readSession();
    startProblem.value = null;
  } catch (error) {
    const isUnknown = error instanceof ApiProblem && error.status === 401;
    startProblem.value = isUnknown ? null : String(error instanceof Error ? error.message : error);
    isSignedOut.value = true;
  }
}

/** Before the page knows who looks at it. */
function Outside(): JSX.Element {
  if (!isSignedOut.value) return <Skeleton />;
  return (
    <main class="outside">
      {startProblem.value !== null && <Note tone="bad" title={startProblem.value} />}
      <SignIn />
    </main>
  );
}

const loaded = signal<ReadonlyMap<string, ComponentType<ScreenProps>>>(new Map());
const missing = signal<ReadonlySet<string>>(new Set());

function CurrentScreen(): JSX.Element {
  const { path, query } = place.value;
  const [id = "overview", ...rest] = path;
  const screen = SCREENS.find((each) => each.id === id);
  useEffect(() => {
    document.title = screen === undefined ? "Millrace" : `${screen.name} · Millrace`;
    if (screen !== undefined && !loaded.value.has(id)) void loadScreen(id, screen.load);
  }, [id]);
  if (screen === undefined) {
    return (
      <>
        <PageHead title="No such page" />
        <Empty title="Nothing is here">The address {`#/${path.join("/")}`} is unknown.</Empty>
      </>
    );
  }
  const Shown = loaded.value.get(id);
  if (Shown !== undefined) return <Shown path={rest} query={query} />;
  if (!missing.value.has(id)) return <Skeleton />;
  return (
    <Note tone="bad" title="This part of the page could not be loaded">
      The server may have been updated. Reload the page.
    </Note>
  );
}

async function loadScreen(
  id: string,
  load: () => Promise<ComponentType<ScreenProps>>,
): Promise<void> {
  try {
    loaded.value = new Map([...loaded.value, [id, await load()]]);
  } catch {
    missing.value = new Set([...missing.value, id]);
  }
}

function skipToMain(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** The screen of jobs may still have to be loaded. */
function focusQuery({ timeStamp }: KeyboardEvent): void {
  const field = document.querySelector<HTMLElement>("[data-query]");
  if (field !== null) return field.focus();
  const [id, ...rest] = place.value.path;
  awaitQueryBar(timeStamp);
  if (id !== "jobs" || rest.length > 0) go(href("jobs"));
}
