/** The check of the sealed trail. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { AuditVerdict } from "../../api/operations.gen.ts";
import { problemText } from "../../lib/toasts.ts";
import { Button } from "../../parts/basics.tsx";
import { Dialog, openDialog } from "../../parts/dialog.tsx";
import { Note, Skeleton } from "../../parts/notices.tsx";
import { verdictWords } from "./words.ts";

export function Verify(): JSX.Element {
  return (
    <Button icon="check" onClick={verify}>
      Verify
    </Button>
  );
}

function verify(): void {
  const verdict = signal<AuditVerdict | string | null>(null);
  openDialog((close) => <VerdictDialog verdict={verdict.value} close={close} />);
  void call("verifyAudit").then(
    (found) => (verdict.value = found),
    (error) => (verdict.value = problemText(error)),
  );
}

function VerdictDialog(props: {
  verdict: AuditVerdict | string | null;
  close: () => void;
}): JSX.Element {
  return (
    <Dialog
      title="Is the audit trail unchanged?"
      close={props.close}
      foot={<Button onClick={props.close}>Close</Button>}
    >
      <Verdict of={props.verdict} />
    </Dialog>
  );
}

function Verdict({ of: verdict }: { of: AuditVerdict | string | null }): JSX.Element {
  if (verdict === null) return <Skeleton />;
  if (typeof verdict === "string") return <Note tone="bad" title={verdict} />;
  return (
    <div class="stack">
      <Note
        tone={verdict.isIntact ? "info" : "bad"}
        title={verdict.isIntact ? "The trail is intact" : "The trail was changed"}
      >
        {verdictWords(verdict)}
      </Note>
      {verdict.findings.length > 0 && (
        <ul class="findings">
          {verdict.findings.map((finding, index) => (
            <li key={index} class="wrap">
              {finding.message}
              <span class="sub">
                {finding.day !== null && ` ${finding.day}`}
                {finding.entryId !== null && ` entry ${finding.entryId}`}
                {finding.tenant !== null && ` of ${finding.tenant}`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
