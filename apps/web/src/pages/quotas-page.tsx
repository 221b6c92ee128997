import type { Match } from '#contracts/matches';
import type { Quota } from '#contracts/quotas';
import { useAppServices } from '../api/app-services.ts';
import { Link } from '../parts/link.tsx';
import { Loading, Notice, ProblemNotice } from '../parts/notice.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { QuotaDeadlines } from '../parts/quota-deadlines.tsx';
import { QuotaNumbers } from '../parts/quota-numbers.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { paths } from '../routes.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { matchTitle } from '../text/match-title.ts';

const refreshMs = 10_000;
/** A partner has few quotas. The page shows the first 300 and says if there are more. */
const maxPages = 3;

/** The partner's page with the quotas that the partner acts for. */
export function QuotasPage() {
  const { texts } = useStaffLanguage();
  const { api, caller } = useAppServices();
  const load = async (signal: AbortSignal) => {
    const { items, isMore } = await api.quotas(maxPages, signal);
    const ids = [...new Set(items.map(({ match_id }) => match_id))];
    const matches = await Promise.all(ids.map((id) => api.match(id, signal)));
    return { items, isMore, matches };
  };
  const { value, problem, reload } = useLoaded(load, caller.signedIn ? 'quotas' : undefined, refreshMs);
  return (
    <>
      <PageTitle>{texts.quotas.title}</PageTitle>
      <p className="lead">{texts.quotas.intro}</p>
      {!caller.signedIn && <Notice tone="info">{texts.quotas.signIn}</Notice>}
      {caller.signedIn && !value && <Loading problem={problem} onRetry={reload} />}
      {value && problem && <ProblemNotice problem={problem} />}
      {value?.items.length === 0 && (
        <p className="empty" data-testid="quotas-none">
          {texts.quotas.none} <code>{caller.fanId}</code>
        </p>
      )}
      {value && value.items.length > 0 && <QuotaList quotas={value.items} matches={value.matches} />}
      {value?.isMore && <p className="fine-print">{texts.quotas.more}</p>}
    </>
  );
}

/** The quotas, with the match of each. */
export function QuotaList({ quotas, matches }: { quotas: readonly Quota[]; matches: readonly Match[] }) {
  return (
    <ul className="partner-quotas">
      {quotas.map((quota) => {
        const match = matches.find(({ id }) => id === quota.match_id);
        const parent = quotas.find(({ id }) => id === quota.parent_id);
        return match && <QuotaCard key={quota.id} quota={quota} match={match} parentName={parent?.name} />;
      })}
    </ul>
  );
}

function QuotaCard({ quota, match, parentName }: { quota: Quota; match: Match; parentName: string | undefined }) {
  const { texts, format } = useStaffLanguage();
  const { places, subtree } = quota;
  return (
    <li className="card partner-quota" data-testid="quota" data-quota-id={quota.id}>
      <div className="partner-head">
        <h2>
          <Link to={paths.quota(quota.id)} testId="open-quota">
            {quota.name}
          </Link>
        </h2>
        <span className={`badge badge-quota-${quota.status}`}>{texts.opsQuotas.status[quota.status]}</span>
      </div>
      <p className="fine-print">
        {matchTitle(match)}
        {parentName && ` · ${texts.quotas.partOf(parentName)}`}
      </p>
      <QuotaNumbers places={places} />
      {subtree.total > places.total && (
        <p className="fine-print">{texts.quotas.withParts(format.number(subtree.total), format.number(subtree.sold))}</p>
      )}
      <QuotaDeadlines quota={quota} match={match} />
    </li>
  );
}
