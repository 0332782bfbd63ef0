/** Slots of a lane or a worker, drawn one by one: busy, slow, free, or closed by a pause. */
import type { JSX } from "preact";
import "./gauge.css";

/** Above so many slots a bar is drawn. */
const DRAWN_MAX = 48;
const HEIGHT = 12;

export interface GaugeProps {
  readonly slots: number;
  readonly running: number;
  /** The jobs wait longer than the target: busy slots are drawn as slow. */
  readonly isSlow?: boolean;
  readonly isPaused?: boolean;
  /** What the slots belong to: "Lane fast". */
  readonly label: string;
}

export function Gauge(props: GaugeProps): JSX.Element {
  const { slots, running, isSlow = false, isPaused = false, label } = props;
  const name = `${label}: ${running} of ${slots} slots busy${isPaused ? ", paused" : ""}${
    isSlow ? ", waits are over the target" : ""
  }`;
  return (
    <svg class="slots" role="img" aria-label={name}>
      <title>{name}</title>
      {slots > DRAWN_MAX ? <Bar {...props} /> : <Cells {...props} />}
    </svg>
  );
}

function Cells({ slots, running, isSlow = false, isPaused = false }: GaugeProps): JSX.Element {
  const gap = slots > 16 ? 20 / slots : 1;
  const step = (100 + gap) / Math.max(1, slots);
  const kindOf = (index: number): string => {
    if (index < running) return isSlow ? "slow" : "on";
    return isPaused ? "stop" : "off";
  };
  return (
    <>
      {Array.from({ length: slots }, (_, index) => (
        <rect
          key={index}
          class={kindOf(index)}
          x={`${step * index}%`}
          y="1"
          width={`${step - gap}%`}
          height={HEIGHT}
          rx="2"
        />
      ))}
    </>
  );
}

function Bar({ slots, running, isSlow = false, isPaused = false }: GaugeProps): JSX.Element {
  const busy = Math.min(1, running / Math.max(1, slots)) * 100;
  return (
    <>
      <rect class={isPaused ? "stop" : "off"} y="1" width="100%" height={HEIGHT} rx="2" />
      <rect class={isSlow ? "slow" : "on"} y="1" width={`${busy}%`} height={HEIGHT} rx="2" />
    </>
  );
}
