/** The last day of a breaker as a bar, and its changes as a trail. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import { useResource } from "../../live/resource.ts";
import { percentText } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";
import { ButtonLink, Panel, Time } from "../../parts/basics.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { BreakerPill } from "./breaker-state.tsx";
import { dayOf, shareNotClosed, type BreakerState } from "./day.ts";

/** Older changes are not read: the bar says from when on the state is known. */
const CHANGES = 300;
/** Shorter stretches would not be seen. */
const WIDTH_MIN = 0.006;
const TOP = { closed: 0, half_open: 4, open: 0, unknown: 0 } as const;

function useChanges(service: string) {
  return useResource(
    `changes ${service}`,
    (signal) =>
      call("listBreakerChanges", { params: { service }, query: { limit: CHANGES }, signal }),
    { on: [], everyMs: 15_000 },
  );
}

export function Day({ service, state }: { service: string; state: BreakerState }): JSX.Element {
  const changes = useChanges(service);
  const known = changes.data.value?.changes ?? [];
  const stretches = dayOf(known, state, Date.now(), known.length === CHANGES);
  const share = shareNotClosed(stretches);
  const older = stretches[0]?.state === "unknown" ? "; older changes are not shown" : "";
  const label =
    share === 0
      ? `${service} was closed for the last 24 hours${older}`
      : `${service} was not closed for ${percentText(share)} of the last 24 hours${older}`;
  return (
    <svg class="day" role="img" aria-label={label}>
      <title>{label}</title>
      <rect class="closed" width="100%" height="16" rx="2" />
      {stretches
        .filter((each) => each.state !== "closed")
        .map(({ state: shown, from, to }) => (
          <rect
            key={from}
            class={shown}
            x={`${Math.min(from, 1 - WIDTH_MIN) * 100}%`}
            y={TOP[shown]}
            width={`${Math.max(to - from, WIDTH_MIN) * 100}%`}
            height={16 - TOP[shown]}
          />
        ))}
    </svg>
  );
}

export function Trail({ service }: { service: string }): JSX.Element {
  const changes = useChanges(service);
  return (
    <Panel
      title={`History of ${service}`}
      aside={
        <ButtonLink kind="quiet" icon="close" href={href("breakers")}>
          Close
        </ButtonLink>
      }
    >
      <Loaded of={changes}>
        {({ changes: rows }) =>
          rows.length === 0 ? (
            <Empty title="It has never changed" isWell>
              A change appears here when the breaker opens, is half open or closes.
            </Empty>
          ) : (
            <ol class="trail">
              {rows.map((change) => (
                <li key={`${change.at} ${change.state}`}>
                  <BreakerPill state={change.state} />
                  <span class="wrap grow">
                    {change.reason !== null && <span class="mono">{change.reason}</span>}
                    {change.reason === null && change.state === "open" && "no reason given"}
                    {change.changedBy !== null && <span class="sub"> by {change.changedBy}</span>}
                    {change.failures > 0 && (
                      <span class="sub"> after {change.failures} failures in a row</span>
                    )}
                  </span>
                  <span class="sub">
                    <Time at={change.at} />
                  </span>
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
    </Panel>
  );
}
