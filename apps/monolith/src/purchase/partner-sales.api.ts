import type { EffectOutcome, LoadedEffect } from '#application/loaded-effect';

/** For who brings what partners have sold of our seats. */
export abstract class PartnerSalesApi {
  /** Throws `RequestRefused` for what is no sale. */
  abstract hear(sale: unknown, effect: LoadedEffect): Promise<EffectOutcome>;
}
