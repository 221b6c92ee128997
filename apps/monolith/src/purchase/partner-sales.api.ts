import type { EffectOutcome, LoadedEffect } from '#application/loaded-effect';

/** Receives the partners' sales of our seats from the event loader. */
export abstract class PartnerSalesApi {
  /** Blocks the sold seats. Throws `RequestRefused` if `sale` is not a valid sale. */
  abstract apply(sale: unknown, effect: LoadedEffect): Promise<EffectOutcome>;
}
