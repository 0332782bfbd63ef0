/** `millrace payloads`: the rules for payloads, and a check of waiting jobs before a deploy. */
import type { Command } from "commander";
import type { Shell } from "../../shell.ts";
import { declareCheck } from "./check.ts";
import { declareRules } from "./rules.ts";

export function declarePayloads(program: Command, shell: Shell): void {
  const payloads = program
    .command("payloads")
    .description("Rules for payloads, and a check of waiting payloads before a deploy.");
  declareRules(payloads, shell);
  declareCheck(payloads, shell);
}
