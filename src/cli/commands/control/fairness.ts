/** `millrace fairness list`, `set` and `remove`. */
import type { Command } from "commander";
import type { FairLane } from "../../../api/control/fairness.ts";
import { WEIGHT_MAX } from "../../../core/control/fairness.ts";
import { plain } from "../../../lib/plain-text.ts";
import { given, systemUser, withExistingMill, type Shell } from "../../shell.ts";
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

interface LaneOptions {
  readonly db: string;
  readonly output: Format;
}

interface SetOptions extends LaneOptions, ActedOptions {
  readonly weight?: Readonly<Record<string, number>>;
}

export function declareFairness(program: Command, shell: Shell): void {
  const fairness = program
    .command("fairness")
    .description("Lanes in which tenants start jobs in proportion to their weights.");
  declareList(fairness, shell);
  declareSet(fairness, shell);
  declareRemove(fairness, shell);
}

function declareList(fairness: Command, { terminal, end }: Shell): void {
  stored(fairness.command("list"))
    .description("List the fair lanes, with the weights of tenants.")
    .action(async ({ db, output }: LaneOptions) => {
      const found = await withExistingMill(db, (mill) => mill.fairness.list());
      if (output === "json") terminal.out(json(found));
      else if (found.length > 0) terminal.out(listOf(found));
      else terminal.err("There are no fair lanes.\n");
      end(EXIT.success);
    });
}

function listOf(lanes: readonly FairLane[]): string {
  return table(
    ["LANE", "WEIGHTS", "SET BY"],
    lanes.map(({ lane, weights, owner, setBy }) => [
      lane,
      Object.entries(weights)
        .map(([tenant, weight]) => `${tenant}=${weight}`)
        .join(" "),
      owner === "code" ? "code" : (setBy ?? ""),
    ]),
  );
}

function declareSet(fairness: Command, { terminal, end }: Shell): void {
  stored(fairness.command("set"))
    .description("Make a lane fair, or change the weights of its tenants.")
    .argument("<lane>", "the lane")
    .option("--weight <tenant=weight>", "the weight of a tenant; may be repeated", addWeight)
    .addOption(reasonOption())
    .addOption(actorOption("the person, for the record", systemUser()))
    .addHelpText("after", "\nExample:\n  millrace fairness set general --weight acme=3\n")
    .action(async (lane: string, options: SetOptions) => {
      const { db, output, weight: weights = {}, by: actor, reason } = options;
      const act = given({ actor, reason });
      await withExistingMill(db, (mill) => mill.fairness.set(lane, { weights }, act));
      const sentence = `The lane ${plain(lane)} is fair.\n`;
      terminal.out(output === "json" ? json({ lane, weights }) : sentence);
      end(EXIT.success);
    });
}

function declareRemove(fairness: Command, { terminal, end }: Shell): void {
  stored(fairness.command("remove"))
    .description("Remove the fairness of a lane. What the code of a worker states counts again.")
    .argument("<lane>", "the lane")
    .addHelpText("after", "\nExample:\n  millrace fairness remove general\n")
    .addOption(reasonOption())
    .addOption(actorOption("the person, for the audit", systemUser()))
    .action(async (lane: string, options: LaneOptions & ActedOptions) => {
      const { db, output, by: actor, reason } = options;
      const act = given({ actor, reason });
      const wasSet = await withExistingMill(db, (mill) => mill.fairness.remove(lane, act));
      const sentence = wasSet
        ? `The fairness of the lane ${plain(lane)} is removed.\n`
        : `No operator has made the lane ${plain(lane)} fair.\n`;
      terminal.out(output === "json" ? json({ lane, wasSet }) : sentence);
      end(EXIT.success);
    });
}

function stored(command: Command): Command {
  return command.addOption(databaseOption()).addOption(serverOption()).addOption(outputOption());
}

function addWeight(
  text: string,
  weights: Readonly<Record<string, number>> = {},
): Readonly<Record<string, number>> {
  const at = text.lastIndexOf("=");
  const weight = Number(text.slice(at + 1));
  const isWeight = /^\d+$/.test(text.slice(at + 1)) && weight >= 1 && weight <= WEIGHT_MAX;
  if (at > 0 && isWeight) return { ...weights, [text.slice(0, at)]: weight };
  throw new CommandFailure(`"${plain(text)}" is not the weight of a tenant.`, {
    hint: `Write a tenant and a whole number from 1 to ${WEIGHT_MAX}, such as acme=3`,
    exitCode: EXIT.usage,
  });
}
