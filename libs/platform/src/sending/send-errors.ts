/**
 * How a send can fail, in what the next step needs to know: may it have left all the same, is the provider in trouble, and is
 * there any use in trying again.
 */
export abstract class SendFailure extends Error {}

/** The provider answered no to this very message: trying again changes nothing. */
export class Refused extends SendFailure {}

/** It certainly did not leave: refused by our own settings, or turned away for now. The provider works. */
export class NotSent extends SendFailure {}

/** Too many at once: it did not leave, and nothing should for so long. */
export class TooFast extends SendFailure {
  constructor(
    readonly forMs: number,
    reason: string,
  ) {
    super(reason);
  }
}

/** 5xx, or nobody there: it did not leave, and the provider is in trouble. */
export class ProviderDown extends SendFailure {}

/** The message went out and no answer came back: it may have arrived. Counts as trouble of the provider, too. */
export class NoAnswer extends SendFailure {}

export const isTrouble = (error: unknown): boolean => error instanceof ProviderDown || error instanceof NoAnswer;
