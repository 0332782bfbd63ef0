/** Where a finding leads, and what its button says. Pure. */
import type { AnswerOf } from "../../api/client.ts";
import { href } from "../../lib/router.ts";

export type Finding = AnswerOf<"getAttention">["findings"][number];

/** The screens that findings name, with the path of a subject and the text of the button. */
const WAYS: Readonly<
  Record<string, readonly [(name: string) => string | readonly string[], string]>
> = {
  breakers: [(name) => ["breakers", name], "Show breaker"],
  failures: [(name) => ["failures", name], "Review cause"],
  lanes: [() => "lanes", "Show lane"],
  types: [(name) => ["lanes", "type", name], "Show type"],
  workers: [() => "workers", "Show workers"],
  schedules: [(name) => ["schedules", name], "Show schedule"],
  dead_letters: [() => "letters", "Review letters"],
  letters: [() => "letters", "Review letters"],
  operations: [() => "operations", "Show operation"],
  settings: [() => "settings", "Show settings"],
};

export interface Way {
  readonly href: string;
  readonly text: string;
}

export function wayOf({ screen, subject }: Pick<Finding, "screen" | "subject">): Way {
  const [pathOf, text] = WAYS[screen] ?? [() => screen, "Show"];
  return { href: href(pathOf(subject.name)), text };
}
