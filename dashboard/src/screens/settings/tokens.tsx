/** Tokens: who and what may call the API. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { Token } from "../../api/operations.gen.ts";
import { href, place } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { useResource } from "../../live/resource.ts";
import { Button, ButtonLink, Panel, Tag, Time } from "../../parts/basics.tsx";
import { ask, openDialog } from "../../parts/dialog.tsx";
import { Empty, Loaded } from "../../parts/notices.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { NewTokenDialog } from "./new-token.tsx";

const PAGE = 50;

export function Tokens(): JSX.Element {
  const after = place.value.query["tokens"];
  const tokens = useResource(
    `tokens ${after ?? ""}`,
    (signal) => call("listTokens", { query: { limit: PAGE, ...(after ? { after } : {}) }, signal }),
    { on: [] },
  );
  const reload = (): Promise<void> => tokens.reload();
  const next = tokens.data.value?.next ?? null;
  const create = (): void =>
    openDialog((close) => <NewTokenDialog reload={reload} close={close} />);
  return (
    <Panel
      flush
      title="Tokens"
      sub="of people, programs and open sessions"
      {...(may("createToken")
        ? {
            aside: (
              <Button icon="plus" onClick={create}>
                New token…
              </Button>
            ),
          }
        : {})}
      {...(next === null && after === undefined
        ? {}
        : { foot: <Pages after={after} next={next} /> })}
    >
      <Loaded of={tokens}>
        {(data) =>
          data.tokens.length === 0 ? (
            <Empty title="There is no token" command="millrace token create shop --kind producer">
              Programs and people sign in with a token:
            </Empty>
          ) : (
            <Table
              label="Tokens"
              columns={columnsOf(reload)}
              rows={data.tokens}
              keyOf={({ id }) => id}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

function Pages({ after, next }: { after: string | undefined; next: string | null }): JSX.Element {
  return (
    <>
      {after !== undefined && <ButtonLink href={href("settings")}>Newest</ButtonLink>}
      {next !== null && <ButtonLink href={href("settings", { tokens: next })}>Older</ButtonLink>}
    </>
  );
}

function columnsOf(reload: () => Promise<void>): readonly Column<Token>[] {
  return [
    {
      id: "name",
      head: "Name",
      isName: true,
      cell: ({ name, actor }) => (
        <span class="cut" title={`${name} (${actor})`}>
          {name} {actor !== name && <span class="dim">{actor}</span>}
        </span>
      ),
    },
    { id: "kind", head: "Kind", cell: ({ kind }) => <Tag>{kind}</Tag> },
    {
      id: "roles",
      head: "Roles",
      cell: ({ roles }) => (roles.length === 0 ? <span class="dim">–</span> : roles.join(", ")),
    },
    {
      id: "tenant",
      head: "Tenant",
      cell: ({ tenant }) =>
        tenant === null ? (
          <span class="dim">All tenants</span>
        ) : (
          <a class="cut" href={href(["tenants", tenant])} title={tenant}>
            {tenant}
          </a>
        ),
    },
    {
      id: "created",
      head: "Created",
      isSecondary: true,
      cell: ({ createdAt, createdBy }) => (
        <span>
          <Time at={createdAt} /> <span class="dim">by {createdBy}</span>
        </span>
      ),
    },
    {
      id: "used",
      head: "Last used",
      cell: ({ lastUsedAt }) =>
        lastUsedAt === null ? <span class="dim">Never used</span> : <Time at={lastUsedAt} />,
    },
    {
      id: "expires",
      head: "Expires",
      cell: ({ expiresAt, revokedAt }) =>
        revokedAt === null ? <Time at={expiresAt} /> : <Tag tone="bad">Revoked</Tag>,
    },
    ...(may("revokeToken") ? [revokeColumn(reload)] : []),
  ];
}

function revokeColumn(reload: () => Promise<void>): Column<Token> {
  return {
    id: "actions",
    head: <span class="sr">Actions</span>,
    isNumber: true,
    cell: (token) =>
      token.revokedAt === null && (
        <Button kind="danger" onClick={() => askRevoke(token, reload)}>
          Revoke…
          <span class="sr"> {token.name}</span>
        </Button>
      ),
  };
}

function askRevoke({ id, name, kind }: Token, reload: () => Promise<void>): void {
  ask({
    title: `Revoke ${name}?`,
    text:
      kind === "session"
        ? "The person has to sign in again."
        : "Calls with this token are refused from now on. Sessions that it has opened end.",
    count: 1,
    verb: "Revoke 1 token",
    keep: "Keep it",
    isDangerous: true,
    act: async () => {
      await call("revokeToken", { params: { id } });
      await reload();
    },
  });
}
