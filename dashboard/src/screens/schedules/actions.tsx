/** What a person can do to a schedule. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { Schedule } from "../../api/operations.gen.ts";
import { href } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { toast, toastProblem } from "../../lib/toasts.ts";
import { Button } from "../../parts/basics.tsx";
import { ask, openDialog } from "../../parts/dialog.tsx";
import { ScheduleForm } from "./schedule-form.tsx";

type Reload = () => Promise<void>;

export function ScheduleActions(props: { schedule: Schedule; reload: Reload }): JSX.Element {
  const { schedule, reload } = props;
  const { name, owner, isDeclared, pausedAt } = schedule;
  return (
    <div class="row acts">
      {may("runSchedule") && <Button onClick={() => void runNow(name, reload)}>Run now</Button>}
      {pausedAt === null && may("pauseSchedule") && (
        <Button
          kind="quiet"
          icon="pause"
          label={`Pause ${name}`}
          onClick={() => askPause(name, reload)}
        />
      )}
      {pausedAt !== null && may("resumeSchedule") && (
        <Button
          kind="quiet"
          icon="play"
          label={`Resume ${name}`}
          onClick={() => void resumeNow(name, reload)}
        />
      )}
      {owner === "operator" && may("updateSchedule") && (
        <Button
          kind="quiet"
          icon="edit"
          label={`Change ${name}`}
          onClick={() =>
            openDialog((close) => (
              <ScheduleForm schedule={schedule} close={close} reload={reload} />
            ))
          }
        />
      )}
      {(owner === "operator" || !isDeclared) && may("removeSchedule") && (
        <Button
          kind="quiet"
          icon="trash"
          label={`Remove ${name}`}
          onClick={() => askRemove(name, reload)}
        />
      )}
    </div>
  );
}

async function runNow(name: string, reload: Reload): Promise<void> {
  try {
    const { id } = await call("runSchedule", { params: { name }, body: {} });
    toast({
      tone: "good",
      title: `${name} runs now`,
      text: "The job stands beside the ticks of the schedule.",
      link: { text: "Show job", href: href(["jobs", id]) },
    });
    await reload();
  } catch (error) {
    toastProblem(`${name} was not run`, error);
  }
}

function askPause(name: string, reload: Reload): void {
  ask({
    title: `Pause schedule ${name}?`,
    text: "It makes no jobs until it is resumed, also after a deploy. The runs of the pause are left out.",
    count: 1,
    verb: "Pause schedule",
    keep: "Keep it running",
    reason: "required",
    act: async (reason) => {
      await call("pauseSchedule", { params: { name }, body: { reason } });
      await reload();
    },
  });
}

async function resumeNow(name: string, reload: Reload): Promise<void> {
  try {
    await call("resumeSchedule", { params: { name } });
    await reload();
  } catch (error) {
    toastProblem(`${name} was not resumed`, error);
  }
}

function askRemove(name: string, reload: Reload): void {
  ask({
    title: `Remove schedule ${name}?`,
    text: "It makes no more jobs. Jobs that it has made stay.",
    count: 1,
    verb: "Remove schedule",
    keep: "Keep it",
    isDangerous: true,
    reason: "required",
    act: async (reason) => {
      await call("removeSchedule", { params: { name }, query: { reason } });
      await reload();
    },
  });
}
