/** `mill.attention`, over HTTP. */
import type { Attention } from "../api/control/attention.ts";
import type { AttentionFinding } from "../core/attention/finding.ts";
import { withDates } from "./dates.ts";
import type { ServerCalls } from "./server-calls.ts";

export async function remoteAttention(calls: ServerCalls): Promise<Attention> {
  const { findings, ...rest } = await calls.json<Attention>("/api/v1/attention");
  return { ...withDates(rest), findings: findings.map(datedFinding) };
}

/** Instants travel as text. */
function datedFinding({ since, ...finding }: AttentionFinding): AttentionFinding {
  const dated: any = { ...withDates(finding), since: since === null ? null : new Date(since) };
  return dated;
}
