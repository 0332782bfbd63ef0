/** `millrace token`: credentials for people and programs that reach a server. */
import type { PersonRole } from "../../api/tokens.ts";
import { Option, type Command } from "commander";
import type { NewToken, TokenView } from "../../api/tokens.ts";
import type { Duration } from "../../core/duration.ts";
import { systemClock } from "../../lib/system.ts";
import { given, withExistingMill, withOperatorMill, systemUser, type Shell } from "../shell.ts";
import { CommandFailure, EXIT } from "../terminal/exit-codes.ts";
import {
  actorOption,
  databaseOption,
  outputOption,
  reasonOption,
  serverOption,
  type ActedOptions,
} from "../terminal/options.ts";
import { ageOf, json, table, type Format } from "../terminal/output.ts";

/** The most tokens that a list shows. */
const LISTED_MAX = 1_000;
const ROLES = ["viewer", "operator", "manager", "admin"] as const;

interface CreateOptions {
  readonly db: string;
  readonly output: Format;
  readonly kind: "person" | "producer" | "worker";
  readonly role?: readonly PersonRole[];
  readonly type?: readonly string[];
  readonly tenant?: string;
  readonly ttl?: string;
  readonly reason?: string;
}

export function declareToken(program: Command, shell: Shell): void {
  const token = program
    .command("token")
    .description("Create, list and revoke credentials for the HTTP API.");
  declareCreate(token, shell);
  declareList(token, shell);
  declareRevoke(token, shell);
}

function declareCreate(parent: Command, { terminal }: Shell): void {
  parent
    .command("create <name>")
    .description("Create a token, and print its secret once.")
    .addOption(
      new Option("--kind <kind>", "who uses the token")
        .choices(["person", "producer", "worker"])
        .default("person"),
    )
    .addOption(
      new Option("--role <role...>", "roles of a person; default viewer").choices([...ROLES]),
    )
    .option("--type <type...>", "job types of a producer or worker; default all")
    .option("--tenant <name>", "the only tenant that the token reaches; default all")
    .option("--ttl <time>", "how long the token is valid, such as 30d; default 90d")
    .addOption(reasonOption())
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .addHelpText("after", HELP_AFTER)
    .action(async (name: string, options: CreateOptions) => {
      const request = requestOf(name, options);
      const by = given({ actor: systemUser(), reason: options.reason });
      const { secret, token } = await withOperatorMill(options.db, (mill) =>
        mill.tokens.create(request, by),
      );
      if (options.output === "json") terminal.out(json({ secret, token }));
      else {
        terminal.err(`Token ${token.id}, valid until ${token.expiresAt.toISOString()}.\n`);
        terminal.err("The secret is shown once; the store keeps only its hash:\n");
        terminal.out(`${secret}\n`);
      }
    });
}

const HELP_AFTER = `
Roles: a viewer sees states, counts and times; an operator retries, cancels, pauses and reads
payloads without secret fields; a manager reads all, decides about dead letters and creates tokens
of the own tenant; an admin creates tokens and sees states of all tenants.

Examples:
  millrace token create ada --role operator
  millrace token create "web shop" --kind producer --type email --tenant acme --ttl 365d
`;

function requestOf(name: string, { kind, role, type, tenant, ttl }: CreateOptions): NewToken {
  if (kind === "person" && type !== undefined) {
    throw usage("--type is for producers and workers.", "A person has roles: use --role.");
  }
  if (kind !== "person" && role !== undefined) {
    throw usage(`--role is for persons, not for a ${kind}.`, "Use --type to limit its jobs.");
  }
  const common = {
    name,
    ...(tenant === undefined ? {} : { tenant }),
    ...(ttl === undefined ? {} : { ttl: durationText(ttl) }),
  };
  if (kind === "person") return { ...common, kind, roles: role ?? ["viewer"] };
  return { ...common, kind, ...(type === undefined ? {} : { types: type }) };
}

function durationText(text: string): Duration {
  if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The pattern is its form.
    return text as Duration;
  }
  throw usage(`--ttl must be a duration such as 30d, not ${text}.`, "Units: ms, s, m, h, d.");
}

function usage(message: string, hint: string): CommandFailure {
  return new CommandFailure(message, { hint, exitCode: EXIT.usage });
}

function declareList(parent: Command, { terminal }: Shell): void {
  parent
    .command("list")
    .description("List tokens, newest first, without their secrets.")
    .option("--ended", "also tokens that were revoked or have expired")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .action(async (options: { db: string; output: Format; ended?: boolean }) => {
      const ended = options.ended === true;
      const filter = { ended, limit: LISTED_MAX };
      const tokens = await withExistingMill(options.db, (mill) => mill.tokens.list(filter));
      if (options.output === "json") terminal.out(json(tokens));
      else if (tokens.length === 0) terminal.err("There are no tokens.\n");
      else {
        const head = ["ID", "KIND", "NAME", "ROLES OR TYPES", "TENANT", "LAST USED", "ENDS"];
        terminal.out(table(head, tokens.map(rowOf)));
        if (tokens.length === LISTED_MAX) terminal.err(`The newest ${LISTED_MAX} are shown.\n`);
      }
    });
}

function rowOf(token: TokenView): string[] {
  const { id, kind, name, roles, types, tenant, lastUsedAt, revokedAt, expiresAt } = token;
  const scope = roles.length > 0 ? roles.join(",") : (types?.join(",") ?? "all types");
  const used = lastUsedAt === null ? "never" : `${ageOf(lastUsedAt, systemClock.now())} ago`;
  const ends = revokedAt === null ? expiresAt.toISOString().slice(0, 10) : "revoked";
  return [id, kind, name, scope, tenant ?? "all", used, ends];
}

function declareRevoke(parent: Command, { terminal }: Shell): void {
  parent
    .command("revoke <id>")
    .description("End a token, and its sessions and stream tokens, within 5 seconds.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(reasonOption())
    .addOption(actorOption("the person, for the audit", systemUser()))
    .action(async (id: string, { db, by: actor, reason }: { db: string } & ActedOptions) => {
      await withExistingMill(db, (mill) => mill.tokens.revoke(id, given({ actor, reason })));
      terminal.err(`Token ${id} is revoked.\n`);
    });
}
