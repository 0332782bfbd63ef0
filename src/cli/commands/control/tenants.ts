/** `millrace tenants`: list, show, quota, export and remove. */
import type { Command } from "commander";
import type { QuotaRule, TenantDetails, TenantView } from "../../../api/control/tenants.ts";
import { formatDuration, type Duration } from "../../../core/duration.ts";
import { plain } from "../../../lib/plain-text.ts";
import { given, systemUser, withExistingMill, type Shell } from "../../shell.ts";
import type { OperatorMill } from "../../operator-mill.ts";
import { CommandFailure, EXIT } from "../../terminal/exit-codes.ts";
import {
  actorOption,
  databaseOption,
  outputOption,
  reasonOption,
  serverOption,
  type ActedOptions,
} from "../../terminal/options.ts";
import { json, table, type Format } from "../../terminal/output.ts";
import { parseCount, parseRate } from "./limits.ts";

/** Tenants of one page. */
const PAGE = 1_000;

interface CommonOptions {
  readonly db: string;
  readonly output: Format;
}

interface ActOptions extends CommonOptions {
  readonly by: string;
  readonly reason: string;
}

interface QuotaOptions extends ActOptions {
  readonly waiting?: number;
  readonly rate?: { readonly limit: number; readonly per: Duration };
  readonly burst?: number;
  readonly payloadBytes?: number;
  readonly remove?: true;
}

export function declareTenants(program: Command, shell: Shell): void {
  const tenants = program
    .command("tenants")
    .description("Tenants: what they have, what they may enqueue, and their data.");
  declareList(tenants, shell);
  declareShow(tenants, shell);
  declarePause(tenants, shell);
  declareResume(tenants, shell);
  declareQuota(tenants, shell);
  declareExport(tenants, shell);
  declareRemove(tenants, shell);
}

function common(command: Command): Command {
  return command.addOption(databaseOption()).addOption(serverOption()).addOption(outputOption());
}

function declareList(parent: Command, { terminal, end }: Shell): void {
  common(parent.command("list"))
    .description("List the known tenants, with their jobs, pause, intake and quota.")
    .action(async ({ db, output }: CommonOptions) => {
      const found = await withExistingMill(db, allTenants);
      if (output === "json") terminal.out(json(found));
      else if (found.length > 0) terminal.out(listOf(found));
      else terminal.err("There are no tenants.\n");
      end(EXIT.success);
    });
}

async function allTenants(mill: OperatorMill): Promise<readonly TenantView[]> {
  const found: TenantView[] = [];
  for (let after: string | undefined; ;) {
    const { tenants, next } = await mill.tenants.list({ limit: PAGE, ...(after && { after }) });
    found.push(...tenants);
    if (next === null) return found;
    after = next;
  }
}

function listOf(tenants: readonly TenantView[]): string {
  return table(
    ["TENANT", "SCHEDULED", "QUEUED", "HELD", "RUNNING", "FAILED", "PAUSED", "INTAKE", "QUOTA"],
    tenants.map(({ tenant, counts, pause, intake, quota, atLeast }) => [
      tenant,
      ...(["scheduled", "queued", "held", "running", "failed"] as const).map(
        (name) => `${counts[name]}${atLeast.includes(name) ? "+" : ""}`,
      ),
      pause === null ? "" : "paused",
      intake === null ? "" : "closed",
      quota === null ? "" : quotaWords(quota),
    ]),
  );
}

function quotaWords({ waiting, rate, payloadBytes }: NonNullable<TenantView["quota"]>): string {
  const words: string[] = [];
  if (waiting !== null) words.push(`${waiting} waiting`);
  if (rate !== null) words.push(`${rate.limit} per ${formatDuration(rate.perMs)}`);
  if (payloadBytes !== null) words.push(`${payloadBytes} bytes`);
  return words.join(", ");
}

function declareShow(parent: Command, { terminal, end }: Shell): void {
  common(parent.command("show <tenant>"))
    .description("Show a tenant, with the use of its quota.")
    .action(async (tenant: string, { db, output }: CommonOptions) => {
      const found = await withExistingMill(db, (mill) => mill.tenants.get(tenant));
      terminal.out(output === "json" ? json(found) : detailsOf(found));
      end(EXIT.success);
    });
}

function detailsOf(found: TenantDetails): string {
  const { quota, limit, weights, removal, pause, intake } = found;
  const weighted = Object.entries(weights).map(([lane, weight]) => `${lane} ${weight}`);
  const lines: readonly (readonly [string, string])[] = [
    ...Object.entries(found.counts).map(([name, count]) => [name, String(count)] as const),
    ["pause", pause === null ? "none" : pause.reason],
    ["intake", intake === null ? "open" : `closed: ${intake.reason}`],
    ["quota", quota === null ? "none" : quotaWords(quota)],
    ["waiting now", quota?.waitingNow == null ? "" : String(quota.waitingNow)],
    ["tokens", quota?.tokens == null ? "" : String(quota.tokens)],
    ["concurrency", limit?.concurrency == null ? "" : String(limit.concurrency)],
    ["weights", weighted.join(", ")],
    ["removal", removal === null ? "" : removal.doneAt === null ? "under way" : "done"],
  ];
  return table(
    ["", plain(found.tenant)],
    lines.filter(([, value]) => value !== "").map((line) => [...line]),
  );
}

function declarePause(parent: Command, { terminal, end }: Shell): void {
  common(parent.command("pause <tenant>"))
    .description("Start no job of a tenant until it is resumed.")
    .option("--reason <text>", "the reason, for the record", "no reason given")
    .addOption(actorOption("the person, for the record", systemUser()))
    .action(async (tenant: string, { db, output, reason, by: actor }: ActOptions) => {
      await withExistingMill(db, (mill) => mill.pause({ tenant }, reason, { actor }));
      const sentence = `The tenant ${plain(tenant)} is paused.\n`;
      terminal.out(output === "json" ? json({ tenant, paused: true, reason }) : sentence);
      end(EXIT.success);
    });
}

function declareResume(parent: Command, { terminal, end }: Shell): void {
  common(parent.command("resume <tenant>"))
    .description("Start jobs of a tenant again.")
    .addOption(reasonOption())
    .addOption(actorOption("the person, for the record", systemUser()))
    .action(async (tenant: string, options: CommonOptions & ActedOptions) => {
      const { db, output, by: actor, reason } = options;
      const act = given({ actor, reason });
      const resumed = await withExistingMill(db, (mill) => mill.resume({ tenant }, act));
      const sentence = resumed.wasPaused ? "is resumed" : "was not paused";
      const facts = json({ tenant, paused: false, ...resumed });
      terminal.out(output === "json" ? facts : `The tenant ${plain(tenant)} ${sentence}.\n`);
      end(EXIT.success);
    });
}

function declareQuota(parent: Command, { terminal, end }: Shell): void {
  common(parent.command("quota <tenant>"))
    .description("Set what a tenant may enqueue, or all tenants that have no quota.")
    .option("--waiting <count>", "jobs that may wait at the same time", parseCount)
    .option("--rate <rate>", "new jobs in a period, such as 100/1m", parseRate)
    .option("--burst <count>", "new jobs that may come at once, instead of the rate", parseCount)
    .option("--payload-bytes <count>", "bytes of one payload", parseCount)
    .option("--remove", "remove the quota")
    .option("--reason <text>", "the reason, for the record", "no reason given")
    .addOption(actorOption("the person, for the record", systemUser()))
    .addHelpText("after", "\nExample:\n  millrace tenants quota acme --waiting 10000\n")
    .action(async (tenant: string, options: QuotaOptions) => {
      const { by: actor, reason, remove, output, db } = options;
      const rule = remove === true ? null : ruleOf(options);
      const wasSet = await withExistingMill(db, async (mill) => {
        if (rule === null)
          return (await mill.tenants.removeQuota(tenant, { actor, reason })).wasSet;
        await mill.tenants.setQuota(tenant, rule, { actor, reason });
        return null;
      });
      const whose = tenant === "*" ? "all other tenants" : `the tenant ${plain(tenant)}`;
      const done = wasSet === null ? "is set" : wasSet ? "is removed" : "was not set";
      const facts = rule === null ? { tenant, wasSet } : { tenant, ...rule };
      terminal.out(output === "json" ? json(facts) : `The quota of ${whose} ${done}.\n`);
      end(EXIT.success);
    });
}

function ruleOf({ waiting, rate, burst, payloadBytes }: QuotaOptions): QuotaRule {
  if (waiting === undefined && rate === undefined && payloadBytes === undefined) {
    throw new CommandFailure("Name --waiting, --rate, --payload-bytes or several of them.", {
      hint: "For example: --waiting 10000, or --rate 100/1m",
      exitCode: EXIT.usage,
    });
  }
  if (burst !== undefined && rate === undefined) {
    throw new CommandFailure("--burst belongs to --rate.", {
      hint: "For example: --rate 100/1m --burst 10",
      exitCode: EXIT.usage,
    });
  }
  return {
    ...(waiting !== undefined && { waiting }),
    ...(payloadBytes !== undefined && { payloadBytes }),
    ...(rate && { rate: { ...rate, ...(burst !== undefined && { burst }) } }),
  };
}

function declareExport(parent: Command, { terminal, end }: Shell): void {
  common(parent.command("export <tenant>"))
    .description("Print all data of a tenant, as one JSON value per line.")
    .addHelpText("after", "\nExample:\n  millrace tenants export acme > acme.jsonl\n")
    .action(async (tenant: string, { db }: CommonOptions) => {
      await withExistingMill(db, async (mill) => {
        for await (const line of mill.tenants.export(tenant)) {
          terminal.out(`${JSON.stringify(line)}\n`);
        }
      });
      end(EXIT.success);
    });
}

function declareRemove(parent: Command, { terminal, end }: Shell): void {
  common(parent.command("remove <tenant>"))
    .description("Remove all data of a tenant. The command can be repeated, and continues.")
    .requiredOption("--confirm <tenant>", "the name of the tenant, again")
    .requiredOption("--reason <text>", "the reason, for the record")
    .addOption(actorOption("the person, for the record", systemUser()))
    .addHelpText("after", REMOVE_HELP_AFTER)
    .action(async (tenant: string, options: ActOptions & { readonly confirm: string }) => {
      const { by: actor, reason, confirm, output, db } = options;
      const removed = await withExistingMill(db, (mill) =>
        mill.tenants.remove(tenant, { actor, reason, confirm }),
      );
      const sentence =
        `${removed.removed} rows of the tenant ${plain(tenant)} are removed. ` +
        "No table mentions the tenant. Its intake stays closed.\n";
      terminal.out(output === "json" ? json(removed) : sentence);
      end(EXIT.success);
    });
}

const REMOVE_HELP_AFTER = `
Closes the intake of the tenant, cancels its jobs, waits a minute for running ones, and deletes
everything in small steps. Entries of the audit stay.

Example:
  millrace tenants remove acme --confirm acme --reason "the contract has ended"
`;
