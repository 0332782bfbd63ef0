/** Commands to copy. None has a token. */
import type { JSX } from "preact";
import { call } from "../../../api/client.ts";
import type { Job } from "../../../api/operations.gen.ts";
import { useResource } from "../../../live/resource.ts";
import { stored } from "../../../lib/prefs.ts";
import { Choice, Panel } from "../../../parts/basics.tsx";
import { Snippet } from "../../../parts/notices.tsx";
import { enqueueText, hasHiddenValue, showText, type Language } from "./copy-as.ts";

const language = stored<Language>("copy.language", "cli");
const LANGUAGES: readonly (readonly [Language, string])[] = [
  ["cli", "CLI"],
  ["curl", "curl"],
  ["typescript", "TypeScript"],
];

export function CopyAs({ job }: { job: Job }): JSX.Element {
  const texts = useResource(
    `copy ${job.id}`,
    (signal) => call("getJobTexts", { params: { id: job.id }, signal }),
    { on: [] },
  );
  const server = document.baseURI.replace(/[?#].*$/, "").replace(/\/$/, "");
  const read = texts.data.value;
  return (
    <Panel
      title="Copy as"
      aside={
        <Choice
          label="Language"
          value={language.value}
          options={LANGUAGES}
          onChange={(value) => (language.value = value)}
        />
      }
      foot={
        language.value === "typescript"
          ? "Opens the store that MILLRACE_DATABASE_URL names."
          : "No token inside: the command uses MILLRACE_TOKEN."
      }
    >
      <div class="stack">
        <div>
          <h3 class="cap">Show this job</h3>
          <Snippet text={showText(language.value, job, server)} label="Copy the command" />
        </div>
        {read !== null && (
          <div>
            <h3 class="cap">Enqueue the same job again</h3>
            {hasHiddenValue(read.payload) ? (
              <p class="sub">Values of the payload are hidden from you: a copy would lose them.</p>
            ) : (
              <Snippet
                text={enqueueText(language.value, job, read.payload, server)}
                label="Copy the command"
              />
            )}
          </div>
        )}
      </div>
    </Panel>
  );
}
