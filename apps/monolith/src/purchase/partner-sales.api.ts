import type { EffectOutcome, LoadedEffect } from '#application/loaded-effect';

/** Receives from the event loader the sales of our seats that partners report. */
export abstract class PartnerSalesApi {
  /** Blocks the seats that the partner has sold. Throws `RequestRefused` if `sale` is not a valid sale. */
  abstract apply(sale: unknown, effect: LoadedEffect): Promise<EffectOutcome>;
}
