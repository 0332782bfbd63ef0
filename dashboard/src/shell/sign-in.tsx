/** The form that exchanges a token for a session. What a person has typed elsewhere stays. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { problemText } from "../lib/toasts.ts";
import { signIn } from "../lib/session.ts";
import { Button } from "../parts/basics.tsx";
import { Dialog, Field } from "../parts/dialog.tsx";
import { Mark } from "../parts/icon.tsx";

/** Before the page is shown. */
export function SignIn(): JSX.Element {
  return (
    <section class="sign-in">
      <Mark />
      <h1>Sign in to Millrace</h1>
      <TokenForm>
        Open the link that the server printed; it works once. Or enter the secret of a token, which
        “millrace token create” has shown, or the value of MILLRACE_TOKEN.
      </TokenForm>
    </section>
  );
}

/**
 * When the session has ended. The dialog is opened last, so it lies above the dialog in which a
 * person was typing. It closes with the sign-in alone.
 */
export function SignInAgain(): JSX.Element {
  return (
    <Dialog title="You were signed out" close={() => {}}>
      <TokenForm>What you have typed is still here. Sign in to go on.</TokenForm>
    </Dialog>
  );
}

function TokenForm({ children }: { children: ComponentChildren }): JSX.Element {
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
    <form onSubmit={(event) => void submit(event)}>
      <p>{children}</p>
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
