/** Stores a schedule, or changes the time of one that a person has stored. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Schedule } from "../../api/operations.gen.ts";
import { useResource } from "../../live/resource.ts";
import { Field } from "../../parts/dialog.tsx";
import { FormDialog, ReasonField, type ProblemAt } from "../../parts/form-dialog.tsx";
import { checkJson } from "../lanes/schema-fields.ts";

interface Typed {
  readonly name: string;
  readonly type: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly missed: "skip" | "once" | "all";
  readonly missedMax: string;
  readonly overlap: Schedule["overlap"];
  readonly payload: string;
  readonly tenant: string;
  readonly reason: string;
}

type Set = (change: Partial<Typed>) => void;

export function ScheduleForm(props: {
  schedule: Schedule | null;
  close: () => void;
  reload: () => Promise<void>;
}): JSX.Element {
  const { schedule, close, reload } = props;
  const [typed, setTyped] = useState<Typed>(typedOf(schedule));
  const set: Set = (change) => setTyped({ ...typed, ...change });
  const submit = async (): Promise<void> => {
    if (schedule === null) await create(typed);
    else await update(schedule.name, typed);
    await reload();
  };
  return (
    <FormDialog
      title={schedule === null ? "New schedule" : `Change ${schedule.name}`}
      close={close}
      verb={schedule === null ? "Create schedule" : "Change schedule"}
      keep={schedule === null ? "Create none" : "Leave it"}
      wide
      submit={submit}
    >
      {(at) => (
        <>
          {schedule === null && <WhatFields typed={typed} set={set} at={at} />}
          <WhenFields typed={typed} set={set} at={at} />
          {schedule === null && (
            <Field label="Payload" hint="JSON; empty: no payload" problem={at("payload")}>
              <textarea
                class="field mono"
                spellcheck={false}
                value={typed.payload}
                onInput={({ currentTarget }) => set({ payload: currentTarget.value })}
              />
            </Field>
          )}
          <ReasonField
            value={typed.reason}
            problem={at("reason")}
            onInput={(reason) => set({ reason })}
          />
        </>
      )}
    </FormDialog>
  );
}

interface FieldsProps {
  readonly typed: Typed;
  readonly set: Set;
  readonly at: ProblemAt;
}

function WhatFields({ typed, set, at }: FieldsProps): JSX.Element {
  const types = useResource("schedule-types", (signal) => call("listTypes", { signal }), {
    on: [],
  });
  return (
    <div class="pair three">
      <Field label="Name" problem={at("name")}>
        <input
          class="field"
          value={typed.name}
          onInput={({ currentTarget }) => set({ name: currentTarget.value })}
        />
      </Field>
      <Field label="Type" problem={at("type")}>
        <input
          class="field"
          list="schedule-types"
          value={typed.type}
          onInput={({ currentTarget }) => set({ type: currentTarget.value })}
        />
        <datalist id="schedule-types">
          {types.data.value?.types.map(({ type }) => (
            <option key={type} value={type} />
          ))}
        </datalist>
      </Field>
      <Field label="Tenant" hint="Empty: the default one" problem={at("options.tenant", "tenant")}>
        <input
          class="field"
          value={typed.tenant}
          onInput={({ currentTarget }) => set({ tenant: currentTarget.value })}
        />
      </Field>
    </div>
  );
}

function WhenFields({ typed, set, at }: FieldsProps): JSX.Element {
  return (
    <>
      <div class="pair">
        <Field
          label="Expression"
          hint="Minute, hour, day, month, weekday: 30 2 * * *"
          problem={at("when.cron", "cron")}
        >
          <input
            class="field mono"
            value={typed.cron}
            onInput={({ currentTarget }) => set({ cron: currentTarget.value })}
          />
        </Field>
        <Field
          label="Time zone"
          hint="Such as Europe/Berlin"
          problem={at("when.timeZone", "timeZone")}
        >
          <input
            class="field"
            value={typed.timeZone}
            onInput={({ currentTarget }) => set({ timeZone: currentTarget.value })}
          />
        </Field>
      </div>
      <PolicyFields typed={typed} set={set} at={at} />
    </>
  );
}

function PolicyFields({ typed, set, at }: FieldsProps): JSX.Element {
  return (
    <div class="pair three">
      <Field label="Missed runs" problem={at("when.missed", "missed")}>
        <select
          class="field"
          value={typed.missed}
          onChange={({ currentTarget: { value } }) =>
            set({ missed: value === "once" || value === "all" ? value : "skip" })
          }
        >
          <option value="skip">Skip them</option>
          <option value="once">Run one for all</option>
          <option value="all">Run each, up to</option>
        </select>
      </Field>
      {typed.missed === "all" && (
        <Field label="At most" problem={at("when.missed.all", "missed.all")}>
          <input
            class="field"
            inputMode="numeric"
            value={typed.missedMax}
            onInput={({ currentTarget }) => set({ missedMax: currentTarget.value })}
          />
        </Field>
      )}
      <Field label="While the last job is not done" problem={at("when.overlap", "overlap")}>
        <select
          class="field"
          value={typed.overlap}
          onChange={({ currentTarget: { value } }) =>
            set({ overlap: value === "queue" || value === "replace" ? value : "skip" })
          }
        >
          <option value="skip">Skip the run</option>
          <option value="queue">Queue behind it</option>
          <option value="replace">Replace it</option>
        </select>
      </Field>
    </div>
  );
}

async function create(typed: Typed): Promise<void> {
  const payload = checkJson(typed.payload);
  if ("problem" in payload) throw new Error(`The payload is no JSON: ${payload.problem}`);
  await call("createSchedule", {
    body: {
      name: typed.name,
      type: typed.type,
      when: timingOf(typed),
      ...(payload.value === undefined ? {} : { payload: payload.value }),
      ...(typed.tenant === "" ? {} : { options: { tenant: typed.tenant } }),
      reason: typed.reason.trim(),
    },
  });
}

async function update(name: string, typed: Typed): Promise<void> {
  const body = { ...timingOf(typed), reason: typed.reason.trim() };
  await call("updateSchedule", { params: { name }, body });
}

function timingOf({ cron, timeZone, missed, missedMax, overlap }: Typed) {
  return {
    cron,
    timeZone,
    missed: missed === "all" ? { all: Number(missedMax) } : missed,
    overlap,
  };
}

function typedOf(schedule: Schedule | null): Typed {
  const missed = schedule?.missed ?? "skip";
  return {
    name: schedule?.name ?? "",
    type: schedule?.type ?? "",
    cron: schedule?.cron ?? "",
    timeZone: schedule?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    missed: typeof missed === "string" ? missed : "all",
    missedMax: typeof missed === "string" ? "10" : String(missed.all),
    overlap: schedule?.overlap ?? "skip",
    payload: "",
    tenant: "",
    reason: "",
  };
}
