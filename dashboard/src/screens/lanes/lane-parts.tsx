/** Parts of a lane that the overview and the screen of lanes share. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../api/client.ts";
import { durationText } from "../../lib/format.ts";
import { now } from "../../lib/now.ts";
import { may } from "../../lib/session.ts";
import { Button, Tag } from "../../parts/basics.tsx";
import { Icon } from "../../parts/icon.tsx";
import { askPause, resumeNow, type Paused } from "./control.ts";

export type Lane = AnswerOf<"listLanes">["lanes"][number];
type PauseFacts = {
  readonly reason: string;
  readonly pausedBy: string | null;
  readonly pausedAt: string;
};

export function isOverTarget({ oldestAgeMs, targetMs }: Lane): boolean {
  return oldestAgeMs !== null && targetMs > 0 && oldestAgeMs > targetMs;
}

export function LaneTags({ lane }: { lane: Lane }): JSX.Element {
  return (
    <>
      {lane.pause !== null && <PauseTag pause={lane.pause} />}
      {lane.pause === null && isOverTarget(lane) && (
        <Tag tone="back">
          <Icon name="failures" small />
          Over target
        </Tag>
      )}
    </>
  );
}

export function PauseTag({ pause }: { pause: PauseFacts }): JSX.Element {
  const by = pause.pausedBy === null ? "" : ` by ${pause.pausedBy}`;
  const text = `Paused${by}, ${durationText(now.value - Date.parse(pause.pausedAt))}`;
  return (
    <Tag title={`${text}: ${pause.reason}`}>
      <Icon name="pause" small />
      <span class="cut">{text}</span>
    </Tag>
  );
}

/** One button that pauses or resumes. */
export function PauseButton(props: {
  kind: Paused;
  name: string;
  isPaused: boolean;
  reload: () => Promise<void>;
}): JSX.Element | null {
  const { kind, name, isPaused, reload } = props;
  if (!may(isPaused ? "resume" : "pause")) return null;
  return (
    <Button
      kind="quiet"
      icon={isPaused ? "play" : "pause"}
      label={`${isPaused ? "Resume" : "Pause"} ${kind} ${name}`}
      onClick={() => (isPaused ? void resumeNow(kind, name, reload) : askPause(kind, name, reload))}
    />
  );
}
