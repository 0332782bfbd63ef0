/** The lanes of one worker. */
import { takesLane } from "../../core/lanes.ts";
import type { Lane } from "./lane.ts";
import type { UnbegunOutcome } from "./marked-jobs.ts";
import type { RunName } from "../run/lock-queue.ts";

export class LaneGroup {
  readonly all: readonly Lane[];

  constructor(lanes: readonly Lane[]) {
    this.all = lanes;
  }

  get(name: string): Lane | undefined {
    return this.all.find((lane) => lane.name === name);
  }

  get isIdle(): boolean {
    return this.all.every(({ isIdle }) => isIdle);
  }

  get wantsMarks(): boolean {
    return this.all.some((lane) => lane.wantsMarks);
  }

  /** A job may have become claimable: lanes whose slots take jobs of `of` claim again. */
  hint(of?: string): void {
    for (const lane of this.all) {
      if (of === undefined || takesLane([lane.name], of)) lane.hint();
    }
  }

  /** Marks prefetched jobs as started. True: a lane has free slots and no more jobs for them. */
  async mark(): Promise<boolean> {
    let isHungry = false;
    for (const lane of this.all) {
      let isMarked = false;
      while (await lane.mark()) isMarked = true;
      isHungry ||= isMarked && lane.free > 0 && !lane.isDry;
    }
    return isHungry;
  }

  async returnPrefetched(): Promise<void> {
    await Promise.all(this.all.map((lane) => lane.returnPrefetched()));
  }

  /** Returns jobs that have waited too long for a slot. */
  async returnOverdue(): Promise<void> {
    await Promise.all(this.all.map((lane) => lane.returnOverdue()));
  }

  returnMarked(): void {
    for (const lane of this.all) lane.returnMarked();
  }

  dropMarked(run: RunName, outcome: UnbegunOutcome | null): void {
    for (const lane of this.all) lane.dropMarked(run, outcome);
  }
}
