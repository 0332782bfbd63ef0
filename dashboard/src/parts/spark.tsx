/** Apart from the charts, so that a table with small lines does not load uPlot. */
import type { JSX } from "preact";

/** A small line without axes, for tables. */
export function Spark(props: {
  values: readonly number[];
  label: string;
  isBad?: boolean;
}): JSX.Element {
  const { values, label, isBad = false } = props;
  const high = Math.max(1, ...values);
  const step = 100 / Math.max(1, values.length - 1);
  const points = values.map((value, index) => `${index * step},${20 - (value / high) * 18}`);
  return (
    <svg
      class={isBad ? "spark bad" : "spark"}
      viewBox="0 0 100 20"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <polygon points={`0,20 ${points.join(" ")} 100,20`} />
      <polyline points={points.join(" ")} />
    </svg>
  );
}

/** Small bars, for counts of hours of which most are 0. */
export function Bars(props: {
  values: readonly number[];
  label: string;
  isBad?: boolean;
}): JSX.Element {
  const { values, label, isBad = false } = props;
  const high = Math.max(1, ...values);
  const step = 100 / Math.max(1, values.length);
  return (
    <svg
      class={isBad ? "bars bad" : "bars"}
      viewBox="0 0 100 20"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <line x1="0" y1="19.5" x2="100" y2="19.5" />
      {values.map((value, index) => {
        const height = value === 0 ? 0 : Math.max(2, (value / high) * 19);
        return (
          <rect x={index * step} y={20 - height} width={step * 0.75} height={height} key={index} />
        );
      })}
    </svg>
  );
}
