/** `GET /api/v1/attention`: what an operator should look at. */
import type { Attention } from "../../api/control/attention.ts";
import { RecentAnswers } from "../../lib/recent-answers.ts";
import { SEE } from "../identity/identity.ts";
import type { AppParts } from "../parts.ts";
import { Redactor } from "../redaction.ts";
import { route, type Route } from "../route.ts";
import { ATTENTION } from "../schemas/attention.ts";
import { redactedFinding } from "../views.ts";

/** A page asks every few seconds, and many pages may be open. */
const KEPT_MS = 2_000;

export function attentionRoutes({ clock, redaction }: AppParts): readonly Route[] {
  const recent = new RecentAnswers<Attention>(clock, KEPT_MS);
  const form = {
    method: "get",
    path: "/api/v1/attention",
    name: "getAttention",
    summary:
      "Lists what an operator should look at, and what was checked. Answers are up to two " +
      "seconds old. A caller of one tenant reads what concerns the tenant.",
    access: SEE,
    answers: { 200: { description: "Findings and checks.", schema: ATTENTION } },
    problems: [],
  } as const;
  return [
    route(form, async ({ mill, identity }) => {
      const key = JSON.stringify(identity.tenant);
      const { findings, ...rest } = await recent.get(key, () => mill.attention());
      const redactor = new Redactor(redaction, identity);
      const shown = findings.map((finding) => redactedFinding(finding, redactor));
      return Response.json({ ...rest, findings: shown });
    }),
  ];
}
