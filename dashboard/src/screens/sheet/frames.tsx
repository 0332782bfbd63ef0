/** Dialogs, a chart, loading, and text from strangers. */
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { durationText } from "../../lib/format.ts";
import { Button, Cut, Facts, IdLink, Panel, Time } from "../../parts/basics.tsx";
import { Chart, type Series } from "../../parts/chart.tsx";
import { Bars, Spark } from "../../parts/spark.tsx";
import { ask, openDialog } from "../../parts/dialog.tsx";
import { JsonValue } from "../../parts/json.tsx";
import { Skeleton } from "../../parts/notices.tsx";
import { Help } from "../../shell/help.tsx";
import { Palette } from "../../shell/palette.tsx";

const rest = (): Promise<void> => Promise.resolve();

export function Dialogs(): JSX.Element {
  const discard = (count: number): void =>
    ask({
      title: `Discard ${count.toLocaleString("en")} dead letters?`,
      text: "Their jobs stay failed and can no longer be reprocessed.",
      count,
      verb: `Discard ${count.toLocaleString("en")} letters`,
      keep: "Keep them",
      isDangerous: true,
      reason: "required",
      act: rest,
    });
  const refuse = (): void =>
    ask({
      title: "Pause lane fast?",
      text: "No job of the lane starts until it is resumed.",
      count: 1,
      verb: "Pause lane",
      keep: "Keep it running",
      reason: "optional",
      act: () => Promise.reject(new Error("This dialog is only shown: nothing was paused.")),
    });
  return (
    <Panel class="c6" title="Dialogs and keyboard" foot="Focus returns to where it came from.">
      <div class="row">
        <Button onClick={refuse}>Ask, then refuse</Button>
        <Button kind="danger" onClick={() => discard(12)}>
          Discard 12…
        </Button>
        <Button kind="danger" onClick={() => discard(12_408)}>
          Discard 12,408…
        </Button>
        <Button keycap="⌘K" onClick={() => openDialog((close) => <Palette close={close} />)}>
          Palette
        </Button>
        <Button keycap="?" onClick={() => openDialog((close) => <Help close={close} />)}>
          Keyboard
        </Button>
      </div>
    </Panel>
  );
}

const MINUTE_MS = 60_000;
const STEPS = 30;
/** The same picture at every visit. */
const START = Date.UTC(2026, 10, 18, 14);
const wave = (index: number, height: number): number =>
  height * (3 + Math.sin(index / 3) + Math.sin(index / 7) + (index > 20 ? 3 : 0));

export function Charts(): JSX.Element {
  const { times, series } = useMemo(() => picture(), []);
  return (
    <Panel class="c8" title="Chart" sub="percentiles differ in shade and dash; failures are filled">
      <Chart
        label="Run time of an example: it rises after a deploy"
        times={times}
        series={series}
        marks={[{ at: START + 20 * MINUTE_MS, text: "v4.18.2" }]}
        target={{ value: 6_000, text: "target" }}
        format={durationText}
      />
      <div class="sparks">
        <Spark label="Runs of an example" values={times.map((_, index) => wave(index, 4))} />
        <Bars label="Failures of an example" isBad values={[0, 0, 1, 0, 4, 9, 3, 1]} />
      </div>
    </Panel>
  );
}

function picture(): { times: readonly number[]; series: readonly Series[] } {
  const steps = Array.from({ length: STEPS }, (_, index) => index);
  const line = (name: "p50" | "p95" | "p99" | "in", height: number): Series => ({
    name,
    tone: name,
    values: steps.map((index) => wave(index, height)),
  });
  const failed: Series = {
    name: "failed",
    tone: "failed",
    isFilled: true,
    values: steps.map((index) => (index > 20 ? wave(index, 100) : 0)),
  };
  return {
    times: steps.map((index) => START + index * MINUTE_MS),
    series: [line("p50", 300), line("p95", 700), line("p99", 1_300), line("in", 500), failed],
  };
}

export function Loading(): JSX.Element {
  return (
    <Panel
      class="c4"
      flush
      title="Loading"
      foot="Heads, filters and buttons stand at once. After 300 ms, not before."
    >
      <Skeleton />
    </Panel>
  );
}

const HOSTILE = `<img src=x onerror=alert(1)> "'\`\${1} \u202Eevil ${"long ".repeat(30)}`;

export function Texts(): JSX.Element {
  return (
    <Panel class="c8" title="Text from strangers" sub="escaped, cut or wrapped, copied whole">
      <div class="stack">
        <Cut text={HOSTILE} />
        <Facts
          of={[
            ["Job", <IdLink id="01K9ZQ4H7M3R5T8V2X4Z6B8D0F" href="#/jobs" />],
            ["Created", <Time at={Date.now() - 4 * MINUTE_MS} />],
            ["Ran", durationText(252_000)],
            ["Rows", "10,000+"],
          ]}
        />
        <JsonValue
          label="the example"
          value={{ to: "ada@example.com", amount: 12.5, isPaid: false, note: null, tags: ["a"] }}
        />
      </div>
    </Panel>
  );
}
