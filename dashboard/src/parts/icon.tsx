/** Icons, drawn in the colour of the text. Each is decoration: the word stands beside it. */
import type { JSX } from "preact";

/** Lines on a grid of 16. */
const LINES = {
  overview: "M2 12l3.5-4 3 2.5L14 4M2 14h12",
  jobs: "M2 4h12M2 8h12M2 12h8",
  failures: "M8 2.5l6.5 11h-13zM8 7v3M8 11.8v.2",
  letters: "M2 9l2-6h8l2 6v4H2zM2 9h3.5l1 2h3l1-2H14",
  lanes: "M3 2v12M8 2v12M13 2v12M3 6h.01M8 9h.01",
  schedules: "M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 2v3M10.5 2v3",
  workers: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01",
  breakers: "M1.5 8h3l1 0M10.5 8h4M5.5 8l4.5-3M5.5 8h.01",
  correlation:
    "M4 4.5a1.5 1.5 0 1 0 0-.01M4 11.5a1.5 1.5 0 1 0 0-.01M11 8a1.5 1.5 0 1 0 0-.01M5.5 4.8l5 2.4M5.5 11.2l5-2.4",
  operations: "M2 5h7M13 5h1M2 11h1M7 11h7M9 3.5h3v3H9zM3.5 9.5h3v3h-3z",
  tenants: "M3 14V3h6v11M9 7h4v7M5 5.5h2M5 8h2M5 10.5h2M2 14h12",
  audit: "M4 2.5h8v11H4zM6 5.5h4M6 8h4M6 10.5h2",
  settings:
    "M8 5.5a2.5 2.5 0 1 0 .01 0M8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4",
  search: "M7 2.5a4.5 4.5 0 1 0 .01 0M10.5 10.5L14 14",
  pause: "M5.5 3v10M10.5 3v10",
  play: "M5 3l7.5 5L5 13z",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  retry: "M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.5l3.5 3.5L13 4.5",
  down: "M4 6l4 4 4-4",
  up: "M4 10l4-4 4 4",
  right: "M6 4l4 4-4 4",
  left: "M10 4L6 8l4 4",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  link: "M9.5 2.5h4v4M13.5 2.5L8 8M11.5 9v4.5h-9v-9H7",
  user: "M8 3a2.5 2.5 0 1 0 .01 0M3 14c0-3 2-4.5 5-4.5s5 1.5 5 4.5",
  eye: "M1.5 8C3 5 5.3 3.5 8 3.5S13 5 14.5 8C13 11 10.7 12.5 8 12.5S3 11 1.5 8zM8 6.2a1.8 1.8 0 1 0 .01 0",
  theme: "M8 2.5a5.5 5.5 0 1 0 .01 0M8 2.5v11",
  trash: "M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.5 9h6l.5-9",
  flag: "M4 14V2.5h8l-2 3 2 3H4",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  plus: "M8 3v10M3 8h10",
  edit: "M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3zM9.2 4.5l2.3 2.3",
  stop: "M4 4h8v8H4z",
  out: "M7 3H3v10h4M7 8h7M11 5l3 3-3 3",
} as const;

export type IconName = keyof typeof LINES;

export function Icon({ name, small = false }: { name: IconName; small?: boolean }): JSX.Element {
  return (
    <svg class={small ? "icon small" : "icon"} viewBox="0 0 16 16" aria-hidden="true">
      <path d={LINES[name]} />
    </svg>
  );
}

/** The wheel over water. */
export function Mark(): JSX.Element {
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M12 3a6 6 0 1 0 .01 0M12 3v12M6 9h12M2.5 18.5c3-2 6.3 2 9.5 0s6.5 2 9.5 0M2.5 22c3-2 6.3 2 9.5 0s6.5 2 9.5 0" />
    </svg>
  );
}
