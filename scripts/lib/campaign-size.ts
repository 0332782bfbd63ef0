/** How far a test project goes that is a sample of a campaign. */

/** `smoke`: in `npm test`. `short` and `full`: in `npm run campaign`, which sets the variable. */
export type CampaignSize = "smoke" | "short" | "full";

export const CAMPAIGN_VARIABLE = "MILLRACE_CAMPAIGN";

/** The entry for the size of this run. */
export function sized<const T>(sizes: Readonly<Record<CampaignSize, T>>): T {
  const name = process.env[CAMPAIGN_VARIABLE] ?? "smoke";
  if (name === "smoke" || name === "short" || name === "full") return sizes[name];
  throw new Error(`${CAMPAIGN_VARIABLE} is short or full, not “${name}”`);
}

/** True in `npm run campaign`, short or full. */
export function isCampaign(): boolean {
  return sized({ smoke: false, short: true, full: true });
}
