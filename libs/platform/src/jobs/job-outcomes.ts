/**
 * Not now, and not the job's fault: it goes back and loses no attempt. `queue`: nothing else of this queue would get through
 * either, so it rests; `job`: only this one waits (somebody else has it in hand).
 */
export class HeldBack extends Error {
  constructor(
    readonly who: 'queue' | 'job',
    readonly forMs: number,
    reason: string,
  ) {
    super(reason);
  }
}

/** Trying again changes nothing: the dead letter at once. */
export class Hopeless extends Error {}
