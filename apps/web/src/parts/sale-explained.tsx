import type { Match } from '#contracts/matches';
import { useLanguage } from '../text/language.tsx';

/** Explains why nothing can be bought now and what the fan can do. */
export function SaleExplained({ match }: { match: Match }) {
  const { texts, format } = useLanguage();
  const { status, opens_at: opensAt } = match.sale;
  const why =
    status === 'scheduled'
      ? texts.saleExplained.scheduled
      : status === 'sold_out'
        ? texts.saleExplained.sold_out
        : status === 'closed'
          ? texts.saleExplained.closed
          : texts.saleExplained.pausedNoQueue;
  return (
    <section className="card card-narrow stage" data-testid="sale-explained">
      <h2>{texts.saleStatus[status]}</h2>
      {status === 'scheduled' && opensAt && <p className="stage-strong">{texts.matches.opensAt(format.dateTime(opensAt))}</p>}
      <p>{why}</p>
    </section>
  );
}
