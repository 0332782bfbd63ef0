/** A provider that counts what it gets, and the functions of a channel task. */
import { defineChannel, type Channel, type ChannelSettings } from "millrace/channels";
import type { NamedFunctions } from "millrace";

interface Answers {
  /** What the functions answer: a value, or a function that answers or throws. */
  readonly message?: unknown;
  readonly sent?: unknown;
  readonly failed?: unknown;
  readonly send?: (message: unknown) => unknown;
  readonly settings?: ChannelSettings & { sendTimeout?: "10s" };
}

interface ProviderScene {
  readonly push: Channel<"push">;
  readonly functions: NamedFunctions;
  /** The calls of functions, by name. */
  readonly calls: readonly (readonly [name: string, payload: unknown])[];
  /** The messages that the provider got. */
  readonly sent: readonly unknown[];
}

const SUCCEEDED = { status: "succeeded" };

export function providerScene(answers: Answers = {}): ProviderScene {
  const calls: [string, unknown][] = [];
  const sent: unknown[] = [];
  const named = (name: string, answer: unknown) => (payload: unknown) => {
    calls.push([name, payload]);
    return typeof answer === "function" ? answer(payload) : answer;
  };
  const message = ({ attempt }: { attempt: number }): unknown => ({
    status: "succeeded",
    payload: { text: `attempt ${attempt}` },
  });
  return {
    push: defineChannel({
      type: "push",
      send: (given) => {
        sent.push(given);
        return answers.send === undefined ? { id: `p${sent.length}` } : answers.send(given);
      },
      ...answers.settings,
    }),
    functions: {
      "push.message": named("push.message", answers.message ?? message),
      "push.sent": named("push.sent", answers.sent ?? SUCCEEDED),
      "push.failed": named("push.failed", answers.failed ?? SUCCEEDED),
    },
    calls,
    sent,
  };
}
