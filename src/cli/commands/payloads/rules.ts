/** `millrace payloads rules list`, `set` and `remove`. */
import { Option, type Command } from "commander";
import type { PayloadRuleTarget, PayloadRuleView } from "../../../api/control/payload-rules.ts";
import type { PayloadRule } from "../../../core/payload-rules/rule.ts";
import { plain } from "../../../lib/plain-text.ts";
import { given, systemUser, withExistingMill, type Shell } from "../../shell.ts";
import { CommandFailure, EXIT } from "../../terminal/exit-codes.ts";
import { actorOption, databaseOption, outputOption, serverOption } from "../../terminal/options.ts";
import { json, table, type Format } from "../../terminal/output.ts";

interface ListOptions {
  readonly db: string;
  readonly output: Format;
}

interface TargetOptions extends ListOptions {
  readonly type?: string;
  readonly category?: string;
  readonly installation?: boolean;
  readonly by: string;
  readonly reason?: string;
}

interface SetOptions extends TargetOptions {
  readonly require?: Readonly<Record<string, string>>;
  readonly soft?: number;
  readonly hard?: number;
  readonly forbid?: readonly string[];
  readonly sensitive?: Readonly<Record<string, string>>;
  readonly strict?: boolean;
}

export function declareRules(payloads: Command, shell: Shell): void {
  const rules = payloads
    .command("rules")
    .description("What the payloads of new jobs must have, and must not have.");
  declareList(rules, shell);
  declareSet(rules, shell);
  declareRemove(rules, shell);
}

function declareList(rules: Command, { terminal, end }: Shell): void {
  stored(rules.command("list"))
    .description("List the rules of the installation, its categories and types.")
    .action(async ({ db, output }: ListOptions) => {
      const found = await withExistingMill(db, (mill) => mill.payloadRules.list());
      if (output === "json") terminal.out(json(found));
      else if (found.length > 0) terminal.out(listOf(found));
      else terminal.err("There are no payload rules.\n");
      end(EXIT.success);
    });
}

function listOf(rules: readonly PayloadRuleView[]): string {
  return table(
    ["FOR", "NAME", "RULE", "SET BY", "REASON"],
    rules.map(({ scope, name, rule, owner, setBy, reason }) => [
      scope,
      name,
      Object.keys(rule).length === 0 ? "removed" : JSON.stringify(rule),
      owner === "code" ? "(code)" : (setBy ?? ""),
      reason ?? "",
    ]),
  );
}

function declareSet(rules: Command, { terminal, end }: Shell): void {
  targeted(stored(rules.command("set")))
    .description("Set a rule, in place of the one before.")
    .option("--require <path[:kind]>", "a field that payloads must have", addRequired)
    .option("--soft <bytes>", "warn about payloads with more bytes", wholeNumber)
    .option("--hard <bytes>", "refuse payloads with more bytes", wholeNumber)
    .option("--forbid <name>", "a name that no field may have", addName)
    .option("--sensitive <set=action>", "what happens to sensitive content", addAction)
    .option("--strict", "demand a tenant, and a UUID as correlation id")
    .addHelpText("after", HELP_AFTER)
    .action(async (options: SetOptions) => {
      const { db, output, by, reason } = options;
      const target = targetOf(options);
      const rule = ruleOf(options);
      const actor = { actor: by, ...(reason === undefined ? {} : { reason }) };
      await withExistingMill(db, (mill) => mill.payloadRules.set(target, rule, actor));
      const sentence = `The payload rule of ${wordsOf(target)} is set.\n`;
      terminal.out(output === "json" ? json({ ...target, rule }) : sentence);
      end(EXIT.success);
    });
}

const HELP_AFTER = `
--require, --forbid and --sensitive may be repeated. The kinds of required fields are any, integer,
uuid and string. The sets of sensitive content are passwords, tokens, keys, cards, mail_bodies and
document_content; the actions are reject, redact and warn. A job is checked against the rules of its
type, its category and the installation together.

Example:
  millrace payloads rules set --category documents --require document_id:integer
  millrace payloads rules set --installation --sensitive passwords=reject --sensitive tokens=redact
`;

function declareRemove(rules: Command, { terminal, end }: Shell): void {
  targeted(stored(rules.command("remove")))
    .description("Remove a rule.")
    .addHelpText("after", "\nExample:\n  millrace payloads rules remove --type scan\n")
    .action(async (options: TargetOptions) => {
      const { db, output, by, reason } = options;
      const target = targetOf(options);
      const actor = { actor: by, ...(reason === undefined ? {} : { reason }) };
      const wasSet = await withExistingMill(db, (mill) => mill.payloadRules.remove(target, actor));
      const sentence = wasSet
        ? `The payload rule of ${wordsOf(target)} is removed.\n`
        : `There is no payload rule of ${wordsOf(target)}.\n`;
      terminal.out(output === "json" ? json({ ...target, wasSet }) : sentence);
      end(EXIT.success);
    });
}

function stored(command: Command): Command {
  return command.addOption(databaseOption()).addOption(serverOption()).addOption(outputOption());
}

function targeted(command: Command): Command {
  return command
    .addOption(new Option("--type <name>", "the rule of a type").conflicts(["category"]))
    .addOption(new Option("--category <name>", "the rule of a category").conflicts("installation"))
    .addOption(new Option("--installation", "the rule of all jobs").conflicts("type"))
    .addOption(actorOption("the person, for the record", systemUser()))
    .option("--reason <text>", "the reason, for the record");
}

function targetOf({ type, category, installation }: TargetOptions): PayloadRuleTarget {
  if (installation === true) return { installation: true };
  if (category !== undefined) return { category };
  if (type !== undefined) return { type };
  throw new CommandFailure("The rule has no target.", {
    hint: "Name --type, --category or --installation.",
    exitCode: EXIT.usage,
  });
}

function wordsOf(target: PayloadRuleTarget): string {
  if ("installation" in target) return "the installation";
  if ("category" in target) return `the category ${plain(target.category)}`;
  return `the type ${plain(target.type)}`;
}

/** The client checks the words, and names the wrong one. */
function ruleOf(options: SetOptions): PayloadRule {
  const { require: required, soft, hard, forbid: forbidden, sensitive, strict } = options;
  const rule: any = given({
    required,
    softBytes: soft,
    hardBytes: hard,
    forbidden,
    sensitive,
    strict,
  });
  return rule;
}

function addRequired(
  text: string,
  fields: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = text.lastIndexOf(":");
  return at < 0
    ? { ...fields, [text]: "any" }
    : { ...fields, [text.slice(0, at)]: text.slice(at + 1) };
}

function addName(text: string, names: readonly string[] = []): readonly string[] {
  return [...names, text];
}

function addAction(
  text: string,
  actions: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = text.indexOf("=");
  if (at > 0) return { ...actions, [text.slice(0, at)]: text.slice(at + 1) };
  throw new CommandFailure(`"${plain(text)}" names no action.`, {
    hint: "Write a set and an action, such as tokens=reject",
    exitCode: EXIT.usage,
  });
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new CommandFailure(`"${plain(text)}" is not a number of bytes.`, {
    hint: "Write a whole number, such as 10240",
    exitCode: EXIT.usage,
  });
}
