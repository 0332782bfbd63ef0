/** The design sheet: every part in every state, so that all screens look like the same hand. */
import type { JSX } from "preact";
import { PageHead } from "../../parts/basics.tsx";
import { Buttons, Colours, Gauges, Inputs, Marks, States } from "./basics.tsx";
import { Charts, Dialogs, Loading, Texts } from "./frames.tsx";
import { Empties, Notes, Reasons, Toasts } from "./messages.tsx";
import "./sheet.css";

export function Sheet(): JSX.Element {
  return (
    <>
      <PageHead title="Design sheet" sub="Every part in every state it can be in" />
      <div class="cols">
        <States />
        <div class="c6 stack">
          <Buttons />
          <Marks />
        </div>
        <Inputs />
        <Toasts />
        <Notes />
        <Dialogs />
        <Gauges />
        <Empties />
        <Charts />
        <Loading />
        <Reasons />
        <Texts />
        <Colours />
      </div>
    </>
  );
}
