import type { PlannedPlaces } from '#contracts/quotas';
import type { Sector } from '#contracts/sectors';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Notice } from './notice.tsx';
import { groupRows } from './planned-rows.ts';

/** The places that a request would take, by sector and rows, and the single seats that it would leave. */
export function OpsQuotaPlan({ plan, sectors }: { plan: PlannedPlaces; sectors: readonly Sector[] }) {
  const { texts, format } = useStaffLanguage();
  const { create, places } = texts.opsQuotas;
  const shown = (quantity: number) => places(quantity, format.number(quantity));
  const nameOf = (id: string) => sectors.find((sector) => sector.id === id)?.name ?? id;
  return (
    <div className="quota-plan" data-testid="quota-plan">
      <Notice tone={plan.stranded > 0 ? 'warning' : 'good'} testId="quota-stranded">
        {plan.stranded > 0 ? create.stranded(plan.stranded, format.number(plan.stranded)) : create.noneStranded}
      </Notice>
      <p>{create.taken(shown(plan.quantity))}</p>
      <ul className="quota-plan-sectors">
        {plan.by_sector.map(({ sector_id: id, quantity, stranded, rows }) => (
          <li key={id} data-testid="quota-plan-sector">
            <strong>{nameOf(id)}</strong>: {shown(quantity)}
            {rows.length === 0 && `, ${create.standing}`}
            {stranded > 0 && <span className="quota-stranded"> · {create.stranded(stranded, format.number(stranded))}</span>}
            <ul className="quota-plan-rows">
              {groupRows(rows).map(({ first, last, ranges, isWhole, quantity: ofRows }) => (
                <li key={first}>
                  {first === last ? create.row(first) : create.rows(first, last)}: {create.seats(ranges)} ({shown(ofRows)}
                  {isWhole && `, ${create.whole}`})
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      <p className="fine-print">{create.meanwhile}</p>
    </div>
  );
}
