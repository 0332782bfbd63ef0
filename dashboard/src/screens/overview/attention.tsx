/** What a person must act on: one sentence, how long, one button. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { AttentionCheck } from "../../api/operations.gen.ts";
import { useResource } from "../../live/resource.ts";
import { useState } from "preact/hooks";
import { durationText, plural } from "../../lib/format.ts";
import { now } from "../../lib/now.ts";
import { useStill } from "../../lib/steady.ts";
import { Button, ButtonLink, Panel, Time } from "../../parts/basics.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { StateShape } from "../../parts/state.tsx";
import { FINDINGS_SHOWN, moreText, saidOf } from "./finding-words.ts";
import { wayOf, type Finding } from "./findings.ts";

export function Attention(): JSX.Element {
  const attention = useResource("attention", (signal) => call("getAttention", { signal }), {
    restMs: 5_000,
    everyMs: 15_000,
  });
  const { findings = [], checked = [], checkedAt } = attention.data.value ?? {};
  const [isWhole, setWhole] = useState(false);
  return (
    <Panel
      class="c8"
      flush
      title="Needs attention"
      sub={findings.length > 0 && <span class="count-pill">{findings.length}</span>}
      aside={
        checkedAt !== undefined && (
          <span class="sub">
            Checked <Time at={checkedAt} />
          </span>
        )
      }
      {...(findings.length > 0 && checked.length > 0 ? { foot: <AllWell checks={checked} /> } : {})}
    >
      <Loaded of={attention} lines={6}>
        {() =>
          findings.length === 0 ? (
            <Empty title="Nothing needs you" isWell>
              {plural(checked.length, "rule")} {checked.length === 1 ? "was" : "were"} checked
              {checked.length > 0 && `: ${checked.map(({ about }) => about).join(", ")}`}.
            </Empty>
          ) : (
            <Findings findings={findings} isWhole={isWhole} showAll={() => setWhole(true)} />
          )
        }
      </Loaded>
    </Panel>
  );
}

/** A component of its own: a list that goes under the pointer must forget what it has held. */
function Findings(props: {
  findings: readonly Finding[];
  isWhole: boolean;
  showAll: () => void;
}): JSX.Element {
  const { rows, on } = useStill(props.findings, keyOf);
  const shown = props.isWhole ? rows : rows.slice(0, FINDINGS_SHOWN);
  return (
    <ul class="attention" {...on}>
      {shown.map((finding) => (
        <Item key={keyOf(finding)} finding={finding} />
      ))}
      {shown.length < rows.length && (
        <li class="all">
          <Button kind="quiet" icon="down" onClick={props.showAll}>
            {moreText(rows.length)}
          </Button>
        </li>
      )}
    </ul>
  );
}

function keyOf({ rule, subject }: Finding): string {
  return `${rule} ${subject.name}`;
}

function Item({ finding }: { finding: Finding }): JSX.Element {
  const { level, since } = finding;
  const { line, more } = saidOf(finding, now.value);
  const way = wayOf(finding);
  return (
    <li>
      <span title={level === "broken" ? "Broken" : "Look soon"}>
        <StateShape state={level === "broken" ? "failed" : "completed_with_errors"} />
        <span class="sr">{level === "broken" ? "Broken" : "Look soon"}</span>
      </span>
      <span class="what">
        <span class="line" title={line}>
          {line}
        </span>
        {more !== null && <span class="more">{more}</span>}
      </span>
      <span class="since">{since === null ? "" : <For since={since} />}</span>
      <ButtonLink href={way.href}>{way.text}</ButtonLink>
    </li>
  );
}

function For({ since }: { since: string }): JSX.Element {
  return (
    <time dateTime={since} title={`Since ${since}`}>
      {durationText(now.value - Date.parse(since))}
    </time>
  );
}

/** A check that could not be read is neither well nor a finding. */
function AllWell({ checks }: { checks: readonly AttentionCheck[] }): JSX.Element {
  const textOf = (status: AttentionCheck["status"]): string =>
    checks
      .filter((check) => check.status === status)
      .map(({ about }) => about)
      .join(", ");
  const unread = textOf("unread");
  return (
    <>
      <span class="good">
        <Icon name="check" />
      </span>
      <span class="grow">
        Also checked, all well: {textOf("well")}
        {unread !== "" && <span class="warn"> Could not be checked: {unread}</span>}
      </span>
    </>
  );
}
