/** The form that exchanges a token for a session. What a person has typed elsewhere stays. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { problemText } from "../lib/toasts.ts";
import { signIn } from "../lib/session.ts";
import { Button } from "../parts/basics.tsx";
import { Field } from "../parts/dialog.tsx";
import { Mark } from "../parts/icon.tsx";

export function SignIn({ isAgain = false }: { isAgain?: boolean }): JSX.Element {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await signIn(token.trim());
    } catch (error) {
      setProblem(problemText(error));
    }
    setToken("");
  };
  return (
    <form class="sign-in" onSubmit={(event) => void submit(event)}>
      {!isAgain && <Mark />}
      <h1>{isAgain ? "You were signed out" : "Sign in to Millrace"}</h1>
      <p>
        {isAgain
          ? "What you have typed is still here. Sign in to go on."
          : "Open the link that the server printed; it works once. Or enter the secret of a token, " +
            "which “millrace token create” has shown, or the value of MILLRACE_TOKEN."}
      </p>
      <Field label="Token" problem={problem}>
        <input
          class="field"
          type="password"
          autocomplete="off"
          required
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
      </Field>
      <Button kind="primary" type="submit">
        Sign in
      </Button>
    </form>
  );
}
