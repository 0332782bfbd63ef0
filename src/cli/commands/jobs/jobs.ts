/** `millrace jobs`: shows jobs, and acts on one. */
import type { Command } from "commander";
import { plain } from "../../../lib/plain-text.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { databaseOption, serverOption, outputOption } from "../../terminal/options.ts";
import { json, type Format } from "../../terminal/output.ts";
import { withJob, type Shell } from "../../shell.ts";
import { jobsAgain } from "./again.ts";
import { declareFollow } from "./follow.ts";
import { declareList } from "./list.ts";
import { declareLogs } from "./logs.ts";
import { declareShow } from "./show.ts";
import { declareUnits } from "./units.ts";
import { declareJobVerbs } from "./verbs.ts";

export function declareJobs(program: Command, shell: Shell): void {
  const jobs = program
    .command("jobs")
    .description("Show jobs, and act on one.")
    .addHelpText("after", HELP_AFTER);
  declareList(jobs, shell);
  declareShow(jobs, shell);
  declareUnits(jobs, shell);
  declareFollow(jobs, shell);
  declareLogs(jobs, shell, jobsAgain);
  declareExplain(jobs, shell);
  declareJobVerbs(jobs, shell);
}

const HELP_AFTER = `
An ID may be shortened to its first letters, at least four, if no other id begins with them.
Commands that change a job (cancel, retry, fail, release) need at least twelve.

Examples:
  millrace jobs list --state failed --type email
  millrace jobs list --state pending --tag campaign=autumn -o json
  millrace jobs show 01JCR5M4X2E8T9V6B3N7K0QWAZ
  millrace jobs units 01JCR5M4X2E8T9V6B3N7K0QWAZ --state failed
  millrace jobs follow 01JCR5M4X2E8T9V6B3N7K0QWAZ      follow the job to its end
  millrace jobs logs 01JCR5M4X2E8T9V6B3N7K0QWAZ        print its log lines
  millrace jobs explain 01JCR5M4X2E8T9V6B3N7K0QWAZ     explain why it does not run
`;

function declareExplain(jobs: Command, { terminal, end }: Shell): void {
  jobs
    .command("explain <id>")
    .description("Explain why a job does not run, and what to do.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .action(async (text: string, options: { db: string; output: Format }) => {
      await withJob(options.db, text, async (mill, id) => {
        const explanation = await mill.jobs.explain(id);
        const { sentence, hint } = explanation;
        const told = `${plain(sentence)}\n${plain(hint)}\n`;
        terminal.out(options.output === "json" ? json(explanation) : told);
      });
      end(EXIT.success);
    });
}
