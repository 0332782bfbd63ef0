/** `millrace breakers`: the circuit breakers of external services. */
import type { Command } from "commander";
import type { BreakerChangeView, BreakerView } from "../../../api/services/breakers.ts";
import { plain } from "../../../lib/plain-text.ts";
import { systemClock } from "../../../lib/system.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import {
  actorOption,
  databaseOption,
  outputOption,
  reasonOption,
  serverOption,
  type ActedOptions,
} from "../../terminal/options.ts";
import { ageOf, json, properties, table, timeOf, type Format } from "../../terminal/output.ts";
import { given, systemUser, withExistingMill, type Shell } from "../../shell.ts";

interface BreakerOptions {
  readonly db: string;
  readonly output: Format;
}

export function declareBreakers(program: Command, shell: Shell): void {
  const breakers = program
    .command("breakers")
    .description("List, open and reset the circuit breakers of services.");
  declareReads(breakers, shell);
  declareWrites(breakers, shell);
}

function declareReads(breakers: Command, { terminal, end }: Shell): void {
  withOptions(breakers.command("list"))
    .description("Show the services that types use, and their breakers.")
    .option("--open", "only breakers that are not closed, and services that asked for a pause")
    .action(async ({ db, output, open }: BreakerOptions & { open?: boolean }) => {
      const all = await withExistingMill(db, (mill) => mill.breakers.list());
      const found = open === true ? all.filter(isClosedService) : all;
      if (output === "json") terminal.out(json(found));
      else if (found.length > 0) terminal.out(tableOf(found));
      else terminal.err(open === true ? "All breakers are closed.\n" : "No type uses a service.\n");
      end(EXIT.success);
    });

  withOptions(breakers.command("show <service>"))
    .description("Show the breaker of one service.")
    .action(async (service: string, { db, output }: BreakerOptions) => {
      const found = await withExistingMill(db, (mill) => mill.breakers.get(service));
      terminal.out(output === "json" ? json(found) : sheetOf(found));
      end(EXIT.success);
    });

  withOptions(breakers.command("history <service>"))
    .description("Show what has happened to the breaker of a service, newest first.")
    .action(async (service: string, { db, output }: BreakerOptions) => {
      const found = await withExistingMill(db, (mill) => mill.breakers.history(service));
      if (output === "json") terminal.out(json(found));
      else if (found.length > 0) terminal.out(historyOf(found));
      else terminal.err("The breaker was never changed.\n");
      end(EXIT.success);
    });
}

function declareWrites(breakers: Command, { terminal, end }: Shell): void {
  withOptions(breakers.command("open <service>"))
    .description("Open the breaker of a service until it is reset; its jobs wait.")
    .requiredOption("--reason <text>", "the reason, shown by explain and breakers")
    .addOption(actorOption("the person, for the record", systemUser()))
    .addHelpText("after", HELP_AFTER)
    .action(async (service: string, options: BreakerOptions & { reason: string; by: string }) => {
      const { db, output, reason, by: actor } = options;
      await withExistingMill(db, (mill) => mill.breakers.forceOpen(service, reason, { actor }));
      const isJson = output === "json";
      const sentence = `The breaker of ${plain(service)} is open until it is reset.\n`;
      terminal.out(isJson ? json({ service, state: "open", reason }) : sentence);
      end(EXIT.success);
    });

  withOptions(breakers.command("reset <service>"))
    .description("Close the breaker of a service, and end the pauses that it has asked for.")
    .addOption(reasonOption())
    .addOption(actorOption("the person, for the record", systemUser()))
    .action(async (service: string, options: BreakerOptions & ActedOptions) => {
      const { db, output, by: actor, reason } = options;
      const act = given({ actor, reason });
      const changed = await withExistingMill(db, (mill) => mill.breakers.reset(service, act));
      const sentence = changed
        ? `The breaker of ${plain(service)} is closed: its jobs may run now.\n`
        : `The breaker of ${plain(service)} was closed already.\n`;
      terminal.out(output === "json" ? json({ service, changed }) : sentence);
      end(EXIT.success);
    });
}

const HELP_AFTER = `
No job tries the service before millrace breakers reset. To hold jobs back without a breaker, pause
the service: millrace pause --service bank

Example:
  millrace breakers open bank --reason "they asked us to stop"
`;

function withOptions(command: Command): Command {
  return command.addOption(databaseOption()).addOption(serverOption()).addOption(outputOption());
}

function isClosedService({ state, parkedUntil }: BreakerView): boolean {
  return state !== "closed" || parkedUntil.length > 0;
}

function tableOf(breakers: readonly BreakerView[]): string {
  return table(
    ["SERVICE", "STATE", "FAILURES", "PROBE", "PARKED UNTIL", "TYPES", "REASON"],
    breakers.map((breaker) => [
      breaker.service,
      breaker.state,
      String(breaker.failures),
      probeOf(breaker),
      breaker.parkedUntil.map(({ until }) => until.toISOString()).at(-1) ?? "",
      breaker.types.join(","),
      plain(breaker.reason ?? ""),
    ]),
  );
}

function probeOf({ state, probeAt, probeJobId }: BreakerView): string {
  if (state === "closed") return "";
  if (state === "half_open") return probeJobId ?? "";
  return probeAt?.toISOString() ?? "after reset";
}

function sheetOf(breaker: BreakerView): string {
  const parked = breaker.parkedUntil.map(
    ({ tenant, until }) => `${until.toISOString()}${tenant === null ? "" : ` (${tenant})`}`,
  );
  return properties([
    ["service", breaker.service],
    ["state", breaker.state],
    ["failures", String(breaker.failures)],
    ["last failure", timeOf(breaker.lastFailureAt)],
    ["opened at", timeOf(breaker.openedAt)],
    ["probe", probeOf(breaker) || null],
    ["reason", breaker.reason],
    ["changed by", breaker.changedBy],
    ["types", breaker.types.join(", ")],
    ["parked until", parked.join(", ") || null],
  ]);
}

function historyOf(changes: readonly BreakerChangeView[]): string {
  const now = systemClock.now();
  return table(
    ["WHEN", "STATE", "FAILURES", "BY", "REASON"],
    changes.map((change) => [
      `${ageOf(change.at, now)} ago`,
      change.state,
      String(change.failures),
      change.changedBy ?? "",
      plain(change.reason ?? ""),
    ]),
  );
}
