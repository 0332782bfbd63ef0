/** Jobs, and one job. */
import type { JSX } from "preact";
import type { ScreenProps } from "../../shell/screens.ts";
import { JobPage } from "./job/job-page.tsx";
import { JobList } from "./list/job-list.tsx";
import "./jobs.css";

export function Jobs({ path: [id], query }: ScreenProps): JSX.Element {
  if (id !== undefined) return <JobPage key={id} id={id} />;
  return <JobList query={query} />;
}
