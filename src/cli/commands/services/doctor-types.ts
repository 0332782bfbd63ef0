/** What `millrace doctor` says about the types that workers have declared. */
import type { JobStore } from "../../../store/store.ts";
import type { DoctorCheck } from "../doctor-file-findings.ts";

/** Types whose living workers disagree about their settings: a deploy is under way, or stuck. */
export async function typeChecks(store: Pick<JobStore, "types">): Promise<DoctorCheck[]> {
  const disputed = (await store.types()).filter(({ declarations }) => declarations > 1);
  return disputed.map(({ type, workers, declarations, appVersion }) => {
    const newest = appVersion === null ? "" : `, the newest from version ${appVersion}`;
    return {
      name: "types",
      found: `the ${workers} workers of type ${type} have ${declarations} declarations${newest}`,
      fix: "Start the same version of the application everywhere: see millrace workers list.",
    };
  });
}
