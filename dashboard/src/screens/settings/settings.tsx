/** Settings: what the server keeps and hides, who may come in, and how this browser shows it. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../api/client.ts";
import { density, theme, zone } from "../../lib/prefs.ts";
import { may, settings } from "../../lib/session.ts";
import { Choice, Facts, PageHead, Panel } from "../../parts/basics.tsx";
import { Empty, Skeleton } from "../../parts/notices.tsx";
import { Table } from "../../parts/table.tsx";
import { PayloadRules } from "./rules.tsx";
import "./settings.css";
import { Tokens } from "./tokens.tsx";
import { isSafeTemplate, retentionName, retentionRows, retentionWords } from "./words.ts";

type Settings = AnswerOf<"getSettings">;

const LINK_EXAMPLE = `millrace server --link 'Customer=https://admin.example/{payload.customer}'`;

export function Settings(): JSX.Element {
  const known = settings.value;
  return (
    <>
      <PageHead title="Settings" />
      <div class="cols">
        <Panel class="c6" title="This browser" sub="kept here alone">
          <Preferences />
        </Panel>
        <Panel class="c6" title="Installation">
          {known === null ? <Skeleton /> : <Installation of={known} />}
        </Panel>
        <Panel class="c6" flush title="Retention">
          {known === null ? <Skeleton /> : <Retention of={known} />}
        </Panel>
        <Panel class="c6" flush title="Links to other tools">
          {known === null ? <Skeleton /> : <Links of={known} />}
        </Panel>
      </div>
      {may("listTokens") && <Tokens />}
      {may("listPayloadRules") && <PayloadRules />}
    </>
  );
}

function Preferences(): JSX.Element {
  return (
    <dl class="prefs">
      <div>
        <dt>Theme</dt>
        <dd>
          <Choice
            label="Theme"
            value={theme.value}
            options={[
              ["system", "System"],
              ["light", "Light"],
              ["dark", "Dark"],
            ]}
            onChange={(value) => (theme.value = value)}
          />
        </dd>
      </div>
      <div>
        <dt>Density</dt>
        <dd>
          <Choice
            label="Density"
            value={density.value}
            options={[
              ["compact", "Compact"],
              ["normal", "Normal"],
              ["roomy", "Roomy"],
            ]}
            onChange={(value) => (density.value = value)}
          />
        </dd>
      </div>
      <div>
        <dt>Times</dt>
        <dd>
          <Choice
            label="Times"
            value={zone.value}
            options={[
              ["local", "Local"],
              ["utc", "UTC"],
            ]}
            onChange={(value) => (zone.value = value)}
          />
        </dd>
      </div>
    </dl>
  );
}

function Installation({ of }: { of: Settings }): JSX.Element {
  return (
    <div class="stack">
      <Facts
        of={[
          ["Store", `${of.store.kind} · ${of.store.name}`],
          ["Version", of.version],
          of.basePath !== "" && ["Path", <code>{of.basePath}</code>],
          ["This page", <a href="licences.md">Licences of its parts</a>],
        ]}
      />
      <div>
        <h3>Hidden fields</h3>
        {of.redactedFields.length === 0 ? (
          <p class="sub">No field of payloads, results and logs is hidden by name.</p>
        ) : (
          <p class="row">
            {of.redactedFields.map((name) => (
              <code key={name}>{name}</code>
            ))}
          </p>
        )}
        <p class="sub">A viewer reads no payloads at all, a manager reads all of them.</p>
      </div>
    </div>
  );
}

function Retention({ of }: { of: Settings }): JSX.Element {
  if (of.retention === null) {
    return (
      <p class="pad sub">Workers remove old rows. This server runs none, and cannot tell when.</p>
    );
  }
  return (
    <Table
      label="Retention"
      columns={[
        { id: "what", head: "What", isName: true, cell: ([name]) => retentionName(name) },
        { id: "kept", head: "How long", cell: ([, ms]) => retentionWords(ms) },
      ]}
      rows={retentionRows(of.retention)}
      keyOf={([name]) => `retention-${name}`}
    />
  );
}

function Links({ of }: { of: Settings }): JSX.Element {
  const links = Object.entries(of.links);
  if (links.length === 0) {
    return (
      <Empty title="No link is set" command={LINK_EXAMPLE}>
        A link leads from a job to another tool. Its template may name the id, the type, the tenant,
        the correlation, the parent, tags and fields of the payload; only http and https are used.
      </Empty>
    );
  }
  return (
    <Table
      label="Links to other tools"
      columns={[
        { id: "name", head: "Name", isName: true, cell: ([name]) => name },
        {
          id: "template",
          head: "Template",
          cell: ([, template]) => (
            <>
              <code class="wrap">{template}</code>
              {!isSafeTemplate(template) && (
                <span class="bad"> not used: only http and https are</span>
              )}
            </>
          ),
        },
      ]}
      rows={links}
      keyOf={([name]) => `link-${name}`}
    />
  );
}
