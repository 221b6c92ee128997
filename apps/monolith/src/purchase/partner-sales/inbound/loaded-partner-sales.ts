import type { EffectOutcome, LoadedEffect } from '#application/loaded-effect';
import { partnerSale } from '#contracts/partner-sales';
import { RequestRefused } from '#platform/http/request-refused';
import { PartnerSalesApi } from '../../partner-sales.api.ts';
import type { BlockPartnerSoldSeats } from '../application/block-partner-sold-seats.ts';

/** Checks partners' sales that the event loader fetched, and applies them. */
export class LoadedPartnerSales extends PartnerSalesApi {
  constructor(private readonly blockPartnerSoldSeats: BlockPartnerSoldSeats) {
    super();
  }

  async apply(loaded: unknown, effect: LoadedEffect): Promise<EffectOutcome> {
    const parsed = partnerSale.safeParse(loaded);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new RequestRefused('VALIDATION_FAILED', {
        detail: `This is not a valid sale: ${issue?.path.join('.')} ${issue?.message}`,
      });
    }
    const { match_id: matchId, reference, seat_ids: seatIds } = parsed.data;
    return this.blockPartnerSoldSeats.execute({ matchId, reference, seatIds }, effect);
  }
}
