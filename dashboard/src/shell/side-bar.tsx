/** The side bar; on narrow screens a bar of five at the foot. */
import type { JSX } from "preact";
import { call } from "../api/client.ts";
import { useResource } from "../live/resource.ts";
import { href, place } from "../lib/router.ts";
import { may, session, settings, signOut } from "../lib/session.ts";
import { Button } from "../parts/basics.tsx";
import { Icon, Mark } from "../parts/icon.tsx";
import { SCREENS, type Screen } from "./screens.ts";

const GROUPS = ["", "Run", "Trace"] as const;
const IN_FOOT_BAR = new Set(["overview", "jobs", "failures", "letters", "lanes"]);

export function SideBar(): JSX.Element {
  const attention = useResource("attention", (signal) => call("getAttention", { signal }), {
    restMs: 5_000,
    everyMs: 15_000,
  });
  const findings = attention.data.value?.findings ?? [];
  const countOf = (screen: Screen): number =>
    screen.id === "overview"
      ? findings.length
      : findings.filter((finding) => placeOf(finding.screen) === screen.id).length;
  return (
    <nav class="side" aria-label="Screens">
      <a class="brand" href={href("overview")}>
        <Mark />
        <span>Millrace</span>
      </a>
      {GROUPS.map((group) => (
        <ul key={group} class="side-group">
          {group !== "" && (
            <li class="side-title" aria-hidden="true">
              {group}
            </li>
          )}
          {SCREENS.filter((each) => each.group === group && may(each.needs)).map((screen) => (
            <Item key={screen.id} screen={screen} count={countOf(screen)} />
          ))}
        </ul>
      ))}
      <Foot />
    </nav>
  );
}

/** Findings name their subject; a screen may show several kinds of them. */
function placeOf(subject: string): string {
  if (subject === "types") return "lanes";
  return subject === "dead_letters" ? "letters" : subject;
}

function Item({ screen, count }: { screen: Screen; count: number }): JSX.Element {
  const isHere = (place.value.path[0] ?? "overview") === screen.id;
  return (
    <li class={IN_FOOT_BAR.has(screen.id) ? "in-foot" : ""}>
      <a
        class="item"
        href={href(screen.id)}
        title={screen.name}
        {...(isHere ? { "aria-current": "page" } : {})}
      >
        <Icon name={screen.icon} />
        <span class="word">{screen.name}</span>
        {count > 0 && (
          <span class="alert">
            {count}
            <span class="sr"> to look at</span>
          </span>
        )}
      </a>
    </li>
  );
}

function Foot(): JSX.Element {
  const { actor = "", roles = [] } = session.value ?? {};
  const { store, readOnly = false } = settings.value ?? {};
  return (
    <div class="side-foot">
      {store !== undefined && (
        <p>
          {store.kind} · {store.name}
        </p>
      )}
      <p>
        {actor} · {readOnly ? "Read only" : (roles.at(-1) ?? "no role")}
      </p>
      <Button kind="quiet" icon="out" onClick={() => void signOut()}>
        Sign out
      </Button>
    </div>
  );
}
