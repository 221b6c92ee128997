import type { OpsMatch } from '#contracts/matches';
import { useLanguage } from '../text/language.tsx';
import { matchTitle } from '../text/match-title.ts';
import { OpsCancel } from './ops-cancel.tsx';
import { OpsOrders } from './ops-orders.tsx';
import { OpsQueueForm } from './ops-queue-form.tsx';
import { OpsReport } from './ops-report.tsx';
import { OpsSale } from './ops-sale.tsx';
import { SaleBadge } from './sale-badge.tsx';

interface OpsMatchCardProps {
  match: OpsMatch;
  isOpen: boolean;
  onOpen: () => void;
  onChange: () => void;
}

/** A match for operators. An opened card shows the report and the forms of the match. */
export function OpsMatchCard({ match, isOpen, onOpen, onChange }: OpsMatchCardProps) {
  const { texts, format } = useLanguage();
  return (
    <li className="card ops-match" data-testid="ops-match" data-match-id={match.id}>
      <h2>
        <button type="button" className="ops-match-name" aria-expanded={isOpen} onClick={onOpen}>
          <span>
            {matchTitle(match)}
            <small>
              {format.dateTime(match.kickoff_at)} · {match.venue}
            </small>
          </span>
          <SaleBadge status={match.sale.status} />
        </button>
      </h2>
      {isOpen && (
        <div className="ops-panel">
          <OpsReport match={match} />
          <OpsSale match={match} onChange={onChange} />
          {match.queue_required ? (
            <OpsQueueForm match={match} onChange={onChange} />
          ) : (
            <p className="fine-print">{texts.ops.noQueue}</p>
          )}
          <OpsOrders match={match} onChange={onChange} />
          <OpsCancel match={match} onChange={onChange} />
        </div>
      )}
    </li>
  );
}
