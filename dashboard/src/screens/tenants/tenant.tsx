/** One tenant. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { TenantDetails } from "../../api/operations.gen.ts";
import { numberText } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { useResource } from "../../live/resource.ts";
import { ButtonLink, Facts, PageHead, Panel, Time } from "../../parts/basics.tsx";
import { Loaded, Note } from "../../parts/notices.tsx";
import { IntakeButton, PauseButton, QuotaButtons } from "./actions.tsx";
import { QuotaUse, StateCount } from "./parts.tsx";
import { rateWords } from "./quota.ts";

export function TenantView({ name }: { name: string }): JSX.Element {
  const tenant = useResource(
    `tenant ${name}`,
    (signal) => call("getTenant", { params: { tenant: name }, signal }),
    { restMs: 5_000, everyMs: 30_000 },
  );
  const data = tenant.data.value;
  const reload = (): Promise<void> => tenant.reload();
  return (
    <>
      <PageHead title={name} sub="Tenant">
        <ButtonLink href={href("tenants")} icon="left" kind="quiet">
          All tenants
        </ButtonLink>
        {data !== null && <IntakeButton tenant={data} reload={reload} />}
        {data !== null && <PauseButton tenant={data} reload={reload} />}
      </PageHead>
      <Loaded of={tenant}>{(found) => <TenantPanels tenant={found} reload={reload} />}</Loaded>
    </>
  );
}

function TenantPanels(props: { tenant: TenantDetails; reload: () => Promise<void> }): JSX.Element {
  const { tenant, reload } = props;
  const states = ["scheduled", "queued", "held", "running", "failed"] as const;
  return (
    <>
      <TenantNotes tenant={tenant} />
      <div class="cols">
        <Panel
          class="c6"
          title="Jobs"
          aside={
            <a href={href("jobs", { q: `tenant:${JSON.stringify(tenant.tenant)}` })}>All jobs</a>
          }
          foot={<TenantLinks name={tenant.tenant} />}
        >
          <ul class="tenant-counts">
            {states.map((state) => (
              <li key={state}>
                <StateCount named tenant={tenant} state={state} />
              </li>
            ))}
          </ul>
        </Panel>
        <Panel
          class="c6"
          title="Quota"
          aside={<QuotaButtons tenant={tenant} reload={reload} />}
          {...(tenant.quota === null ? {} : { foot: quotaFoot(tenant.quota) })}
        >
          <QuotaBody tenant={tenant} />
        </Panel>
      </div>
    </>
  );
}

function TenantLinks({ name }: { name: string }): JSX.Element {
  return (
    <>
      <a href={href("letters", { tenant: name })}>Dead letters</a>
      <a href={href("failures", { tenant: name })}>Failures</a>
      {may("listAudit") && <a href={href("audit", { tenant: name })}>Audit</a>}
    </>
  );
}

function quotaFoot({ reason, setBy, setAt }: NonNullable<TenantDetails["quota"]>): JSX.Element {
  return (
    <span class="wrap">
      Set by {setBy ?? "the application"} <Time at={setAt} />: {reason}
    </span>
  );
}

function QuotaBody({ tenant }: { tenant: TenantDetails }): JSX.Element {
  const { quota, limit } = tenant;
  const weights = Object.entries(tenant.weights);
  return (
    <div class="stack">
      {quota === null ? (
        <p class="sub">This tenant may enqueue without a limit of its own.</p>
      ) : (
        <QuotaUse tenant={tenant} waiting={quota.waitingNow ?? 0} />
      )}
      <Facts
        of={[
          quota?.waiting !== null &&
            quota?.waiting !== undefined && [
              "Waiting now",
              `${numberText(quota.waitingNow ?? 0)} of ${numberText(quota.waiting)}`,
            ],
          quota?.tokens !== null &&
            quota?.tokens !== undefined && [
              "May come at once",
              numberText(Math.floor(quota.tokens)),
            ],
          limit?.concurrency !== null &&
            limit?.concurrency !== undefined && ["Runs at once", numberText(limit.concurrency)],
          limit?.rate !== null && limit?.rate !== undefined && ["Starts", rateWords(limit.rate)],
          weights.length > 0 && [
            "Weights",
            weights.map(([lane, weight]) => `${lane}: ${weight}`).join(", "),
          ],
        ]}
      />
    </div>
  );
}

function TenantNotes({ tenant }: { tenant: TenantDetails }): JSX.Element {
  const { pause, intake, removal } = tenant;
  return (
    <>
      {pause !== null && (
        <Note tone="warn" title="Paused: no worker starts a job of this tenant">
          {pause.pausedBy ?? "The application"}, <Time at={pause.pausedAt} />: {pause.reason}
        </Note>
      )}
      {intake !== null && (
        <Note tone="warn" title="The intake is closed: new jobs are refused">
          {intake.closedBy ?? "The application"}, <Time at={intake.closedAt} />: {intake.reason}
        </Note>
      )}
      {removal !== null && (
        <Note
          tone="bad"
          title={removal.doneAt === null ? "The data is being removed" : "The data was removed"}
        >
          {removal.begunBy ?? "The application"}, <Time at={removal.begunAt} />: {removal.reason}.{" "}
          {numberText(removal.removed)} rows are gone.
        </Note>
      )}
    </>
  );
}
