/**
 * Commands and code that make or show a job again. They are pasted into shells, so every word from
 * a job is quoted; and they are pasted into chats, so none has a token. Pure.
 */
import type { Job } from "../../../api/operations.gen.ts";

export type Language = "cli" | "curl" | "typescript";
export type CopiedJob = Pick<Job, "id" | "type" | "tenant" | "priority" | "tags" | "correlationId">;

/** A word without characters that are special in a shell, and no option. */
const PLAIN = /^[\w./:][\w@%+=:,./-]*$/;
// oxlint-disable-next-line no-control-regex -- These are the characters that a terminal acts on.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
// oxlint-disable-next-line no-control-regex -- As above.
const ESCAPED = /[\u0000-\u001f\u007f-\u009f\\']/g;

/** One word of a shell such as bash, whatever the text has. */
export function shellWord(text: string): string {
  if (PLAIN.test(text)) return text;
  if (!CONTROL.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  // A terminal would act on these characters while they are pasted.
  const escaped = text.replaceAll(ESCAPED, (letter) => {
    if (letter === "\\" || letter === "'") return `\\${letter}`;
    return letter === "\n" ? "\\n" : bytesOf(letter);
  });
  return `$'${escaped}'`;
}

/** A shell cannot hold the character 0; it is left out. */
function bytesOf(letter: string): string {
  if (letter === "\0") return "";
  const bytes = [...new TextEncoder().encode(letter)];
  return bytes.map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}

/** Whether the server has hidden values of this JSON text from the person. */
export function hasHiddenValue(payload: string | null): boolean {
  return payload?.includes('"[redacted]"') === true;
}

/** Shows the job. */
export function showText(language: Language, { id }: CopiedJob, server: string): string {
  if (language === "cli")
    return `millrace jobs show ${shellWord(id)} --server ${shellWord(server)}`;
  if (language === "curl") return curl(`${server}/api/v1/jobs/${encodeURIComponent(id)}`, []);
  return [
    'import { openMillrace } from "millrace";',
    "",
    "await using mill = await openMillrace();",
    `console.log(await mill.jobs.get(${JSON.stringify(id)}));`,
  ].join("\n");
}

/** Enqueues another job with the same type, payload and options. `payload` is its JSON text. */
export function enqueueText(
  language: Language,
  job: CopiedJob,
  payload: string | null,
  server: string,
): string {
  if (language === "cli") return enqueueCommand(job, payload, server);
  if (language === "curl") {
    const fields = [
      `"type":${JSON.stringify(job.type)}`,
      ...(payload === null ? [] : [`"payload":${payload}`]),
      `"options":${JSON.stringify(optionsOf(job))}`,
    ];
    return curl(`${server}/api/v1/jobs`, [
      `-H ${shellWord("content-type: application/json")}`,
      `--data-raw ${shellWord(`{${fields.join(",")}}`)}`,
    ]);
  }
  return enqueueCode(job, payload);
}

function optionsOf({ tenant, priority, tags }: CopiedJob): object {
  return { tenant, priority, ...(Object.keys(tags).length === 0 ? {} : { tags }) };
}

function enqueueCommand(job: CopiedJob, payload: string | null, server: string): string {
  const { type, tenant, priority, tags } = job;
  const options = [
    `--tenant=${shellWord(tenant)}`,
    `--priority=${priority}`,
    ...Object.entries(tags).map((tag) => `--tag=${shellWord(tag.join("="))}`),
    `--server=${shellWord(server)}`,
  ];
  // Behind -- no word is an option, such as the payload -5.
  const words = [type, ...(payload === null ? [] : [payload])].map(shellWord).join(" ");
  return ["millrace enqueue", ...options, `-- ${words}`].join(" \\\n  ");
}

function curl(address: string, parts: readonly string[]): string {
  const token = '-H "Authorization: Bearer $MILLRACE_TOKEN"';
  return [`curl ${shellWord(address)}`, token, ...parts].join(" \\\n  ");
}

function enqueueCode(job: CopiedJob, payload: string | null): string {
  const { type } = job;
  const value = payload === null ? "undefined" : codeOf(payload);
  return [
    'import { defineJob, openMillrace, typed } from "millrace";',
    "",
    `const job = defineJob({ type: ${JSON.stringify(type)}, payload: typed<any>() });`,
    "await using mill = await openMillrace();",
    `await mill.enqueue(job, ${value}, ${JSON.stringify(optionsOf(job))});`,
  ].join("\n");
}

/** JSON is code, but for a field that would become a prototype. */
function codeOf(json: string): string {
  return json.includes("__proto__") ? `JSON.parse(${JSON.stringify(json)})` : json;
}
