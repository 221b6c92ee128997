import type { SaleStatus } from '#contracts/matches';
import { useLanguage } from '../text/language.tsx';

/** A small label with the state of a sale, for example "On sale". */
export function SaleBadge({ status }: { status: SaleStatus }) {
  const { texts } = useLanguage();
  return (
    <span className={`badge badge-${status}`} data-testid="sale-status" data-status={status}>
      {texts.saleStatus[status]}
    </span>
  );
}
