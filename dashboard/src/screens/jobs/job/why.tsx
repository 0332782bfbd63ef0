/** Why a job is not running: one sentence, what to do, and the way to what holds it back. */
import type { JSX } from "preact";
import type { Explanation } from "../../../api/operations.gen.ts";
import { countText, durationText, numberText } from "../../../lib/format.ts";
import { now } from "../../../lib/now.ts";
import { href } from "../../../lib/router.ts";
import { ButtonLink, Time } from "../../../parts/basics.tsx";
import { StateShape, type StateName } from "../../../parts/state.tsx";

const WAITS = new Set([
  "waiting",
  "busy",
  "scheduled",
  "retrying",
  "buffered",
  "running",
  "cancelling",
]);

/** Whether something other than time and free slots holds the job back. */
export function isHolding({ reason }: Explanation): boolean {
  return !WAITS.has(reason);
}

export function Why(props: { explanation: Explanation; reload: () => void }): JSX.Element {
  const { explanation } = props;
  const { sentence, hint, until } = explanation;
  const facts = factsOf(explanation);
  const way = wayOf(explanation);
  const isHeld = isHolding(explanation);
  return (
    <section class={isHeld ? "job-why held" : "job-why"} aria-label="Why is it not running?">
      <StateShape state={shapeOf(explanation)} />
      <div>
        <h2>Why is it not running?</h2>
        <p class="sentence">{sentence}</p>
        <p>
          {hint}
          {until !== undefined && <Until at={until} />}
        </p>
        {facts.length > 0 && (
          <ul class="gates">
            {facts.map((fact, index) => (
              <li key={index}>{fact}</li>
            ))}
          </ul>
        )}
      </div>
      {way !== null && <ButtonLink href={way[1]}>{way[0]}</ButtonLink>}
    </section>
  );
}

function shapeOf(explanation: Explanation): StateName {
  if (isHolding(explanation)) return "held";
  const { reason } = explanation;
  return reason === "retrying" || reason === "scheduled" ? reason : "queued";
}

function Until({ at }: { at: string }): JSX.Element {
  const left = Date.parse(at) - now.value;
  return (
    <b class="until">
      {left > 0 ? ` ${durationText(Math.ceil(left / 1_000) * 1_000)} left.` : " Any moment now."}
    </b>
  );
}

/** Where a person can change it. */
function wayOf(explanation: Explanation): readonly [string, string] | null {
  const { reason, details } = explanation;
  switch (reason) {
    case "breaker":
    case "rate_limited":
      return ["Show the breaker", href(["breakers", details.service])];
    case "paused":
      return details.kind === "service"
        ? ["Show the service", href(["breakers", details.name])]
        : details.kind === "tenant"
          ? ["Show the tenant", href("tenants")]
          : details.kind === "type"
            ? ["Show the pause", href(["lanes", "type", details.name])]
            : ["Show the pause", href("lanes")];
    case "limit":
    case "rate":
      return ["Show the limit", href("lanes")];
    case "busy":
    case "waiting":
    case "lane_not_taken":
      return ["Show the lane", href("lanes")];
    case "no_worker":
    case "quiet":
    case "type_not_taken":
    case "tenant_not_taken":
      return ["Show workers", href("workers")];
    case "handler":
      return ["Show the job", href(["jobs", details.job])];
    case "key":
      return details.holder === null ? null : ["Show the holder", href(["jobs", details.holder])];
    case "scheduled":
    case "retrying":
    case "after":
    case "crashed":
    case "alone":
    case "buffered":
    case "running":
    case "cancelling":
    case "completed":
    case "completed_with_errors":
    case "cancelled":
    case "failed":
      return null;
  }
}

/** What else is known, as short sentences. */
function factsOf(explanation: Explanation): readonly (string | JSX.Element)[] {
  const { reason, details } = explanation;
  switch (reason) {
    case "after":
      return details.jobs.map((id) => (
        <a key={id} class="mono" href={href(["jobs", id])}>
          {id}
        </a>
      ));
    case "retrying":
      return [
        `Attempt ${details.attempts} of ${details.maxAttempts} has failed`,
        ...(details.error === null ? [] : [details.error]),
      ];
    case "breaker":
      return [
        `${numberText(details.failures)} failures in a row`,
        `${countText(details.waiting)} jobs wait for ${details.service}`,
        ...(details.probeAt === null
          ? []
          : [
              <span key="probe">
                Next probe <Time at={details.probeAt} />
              </span>,
            ]),
      ];
    case "paused":
      return [
        `Paused${details.by === null ? "" : ` by ${details.by}`}: ${details.reason}`,
        ...(details.waiting === null ? [] : [`${countText(details.waiting)} jobs wait`]),
      ];
    case "rate_limited":
      return [`${countText(details.waiting)} jobs wait for ${details.service}`];
    case "busy":
    case "waiting":
      return [
        `Lane ${details.lane}: ${details.running ?? "?"} of ${numberText(details.slots)} slots run`,
        `${numberText(details.workers)} ${details.workers === 1 ? "worker takes" : "workers take"} it`,
        ...(details.ahead === null ? [] : [`${countText(details.ahead)} jobs are ahead`]),
      ];
    case "limit":
      return [
        `${details.used ?? "?"} of ${numberText(details.concurrency)} run for ${details.kind} ${details.name}`,
      ];
    case "scheduled":
    case "handler":
    case "no_worker":
    case "quiet":
    case "type_not_taken":
    case "lane_not_taken":
    case "tenant_not_taken":
    case "key":
    case "rate":
    case "crashed":
    case "alone":
    case "buffered":
    case "running":
    case "cancelling":
    case "completed":
    case "completed_with_errors":
    case "cancelled":
    case "failed":
      return [];
  }
}
