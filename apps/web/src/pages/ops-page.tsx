import type { OpsMatch } from '#contracts/matches';
import { useAppServices } from '../api/app-services.ts';
import { SaleBadge } from '../parts/match-facts.tsx';
import { MatchSearchField } from '../parts/match-search-field.tsx';
import { Link } from '../parts/link.tsx';
import { Loading } from '../parts/notice.tsx';
import { OpsBlacklist } from '../parts/ops-blacklist.tsx';
import { OpsCancel } from '../parts/ops-cancel.tsx';
import { OpsOrders } from '../parts/ops-orders.tsx';
import { OpsQueueForm } from '../parts/ops-queue-form.tsx';
import { OpsQuotasSummary } from '../parts/ops-quotas-summary.tsx';
import { OpsReport } from '../parts/ops-report.tsx';
import { OpsSale } from '../parts/ops-sale.tsx';
import { OpsTransfers } from '../parts/ops-transfers.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { RoleChoice } from '../parts/role-choice.tsx';
import { RoleNeeded, useMay } from '../parts/role-needed.tsx';
import { useMatchSearch } from '../parts/use-match-search.ts';
import { navigate, paths } from '../routes.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { matchTitle } from '../text/match-title.ts';

const refreshMs = 5_000;

/**
 * The page for operators. Only one match card is open at a time. An open card polls every two seconds, and the API limits
 * requests per IP address.
 */
export function OpsPage({ chosenId }: { chosenId: string | undefined }) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const search = useMatchSearch(api.opsMatches, refreshMs);
  const { value, problem, reload, text } = search;
  const open = chosenId ?? value?.items[0]?.id;
  return (
    <>
      <PageTitle>{texts.ops.title}</PageTitle>
      <p className="lead">{texts.ops.intro}</p>
      <RoleChoice />
      <p>
        <Link to={paths.opsJobs} testId="ops-jobs-link">
          {texts.opsJobs.link}
        </Link>
      </p>
      {useMay('ops') ? (
        <p>
          <Link to={paths.opsAudit} testId="ops-audit-link">
            {texts.opsAudit.link}
          </Link>
          {' · '}
          <Link to={paths.opsWebhooks} testId="ops-webhooks-link">
            {texts.opsWebhooks.link}
          </Link>
        </p>
      ) : (
        <RoleNeeded access="ops" work="audit" />
      )}
      <MatchSearchField search={search} />
      {!value && <Loading problem={problem} onRetry={reload} />}
      {value?.items.length === 0 && !text && <p className="empty">{texts.ops.empty}</p>}
      <ul className="ops-list">
        {value?.items.map((match) => (
          <OpsMatchCard
            key={match.id}
            match={match}
            isOpen={match.id === open}
            onOpen={() => navigate(paths.ops(match.id), { replace: true })}
            onChange={reload}
          />
        ))}
      </ul>
      {value && <OpsBlacklist />}
    </>
  );
}

interface OpsMatchCardProps {
  match: OpsMatch;
  isOpen: boolean;
  onOpen: () => void;
  onChange: () => void;
}

/** A match for operators. An opened card shows the report and the forms of the match. */
export function OpsMatchCard({ match, isOpen, onOpen, onChange }: OpsMatchCardProps) {
  const { texts, format } = useStaffLanguage();
  const [maySell, mayPayBack] = [useMay('ops:sale'), useMay('ops:money')];
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
          {maySell && <OpsSale match={match} onChange={onChange} />}
          <RoleNeeded access="ops:sale" work="sale" />
          <OpsQuotasSummary key={match.id} matchId={match.id} />
          {match.queue_required && maySell && <OpsQueueForm match={match} onChange={onChange} />}
          {!match.queue_required && <p className="fine-print">{texts.ops.noQueue}</p>}
          {maySell && <OpsTransfers match={match} onChange={onChange} />}
          <OpsOrders match={match} onChange={onChange} />
          {(mayPayBack || match.cancelled_at) && <OpsCancel match={match} onChange={onChange} />}
          <RoleNeeded access="ops:money" work="money" />
        </div>
      )}
    </li>
  );
}
