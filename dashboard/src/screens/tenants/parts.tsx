/** Parts of the table and of the page of one tenant. */
import type { JSX } from "preact";
import type { Tenant } from "../../api/operations.gen.ts";
import { countText, numberText } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";
import { Meter } from "../../parts/basics.tsx";
import { State } from "../../parts/state.tsx";
import { quotaWords } from "./quota.ts";

type CountedState = keyof Tenant["counts"];

/** A count that leads to the jobs behind it. */
export function StateCount(props: {
  tenant: Tenant;
  state: CountedState;
  named?: boolean;
}): JSX.Element {
  const { tenant, state, named = false } = props;
  const count = tenant.counts[state];
  const text = countText({ count, atLeast: tenant.atLeast.includes(state) });
  // A held job is a queued one; each row of the list says what holds the job back.
  const listed = state === "held" ? "queued" : state;
  const query = href("jobs", { q: `tenant:${quoted(tenant.tenant)} state:${listed}` });
  return (
    <span class="state-count">
      <span class={named ? "" : "only-narrow"}>
        <State state={state} />
      </span>
      {count === 0 ? <span class="dim">0</span> : <a href={query}>{text}</a>}
    </span>
  );
}

function quoted(value: string): string {
  return /^[\w.@/-]+$/.test(value) ? value : JSON.stringify(value);
}

/** What a tenant may enqueue, and how much of it waits. */
export function QuotaUse({ tenant, waiting }: { tenant: Tenant; waiting?: number }): JSX.Element {
  const { quota, counts } = tenant;
  if (quota === null) return <span class="dim">None</span>;
  const used = waiting ?? counts.scheduled + counts.queued + counts.held;
  const share = quota.waiting === null ? 0 : used / quota.waiting;
  return (
    <span class="quota-use">
      <span>{quotaWords(quota).join(" · ")}</span>
      {quota.waiting !== null && (
        <Meter
          label={`${numberText(used)} of ${numberText(quota.waiting)} jobs wait`}
          parts={[{ share, tone: share >= 1 ? "bad" : share >= 0.8 ? "warn" : "run" }]}
        />
      )}
    </span>
  );
}
