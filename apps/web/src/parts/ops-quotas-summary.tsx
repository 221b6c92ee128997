import { useAppServices } from '../api/app-services.ts';
import { paths } from '../routes.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Link } from './link.tsx';
import { ProblemNotice } from './notice.tsx';
import { OpsPolicyCheck } from './ops-policy-check.tsx';
import { useLoaded } from './use-loaded.ts';

/** The quotas of a match in the view of its sale: how many there are, the way to their page, and which rules they break. */
export function OpsQuotasSummary({ matchId }: { matchId: string }) {
  const { texts, format } = useStaffLanguage();
  const { api } = useAppServices();
  const { value: quotas, problem } = useLoaded((signal) => api.opsQuotas(matchId, signal), matchId);
  const { summary, places, unknownQuota } = texts.opsQuotas;
  const total = (quotas ?? []).reduce((sum, { places: own }) => sum + own.total, 0);
  const nameOf = (id: string) => quotas?.find((quota) => quota.id === id)?.name ?? unknownQuota;
  return (
    <section className="ops-quotas" aria-label={texts.opsQuotas.title} data-testid="ops-quotas">
      <h3>{texts.opsQuotas.title}</h3>
      {problem && <ProblemNotice problem={problem} />}
      {quotas && <p>{quotas.length === 0 ? summary.none : summary.link(quotas.length, places(total, format.number(total)))}</p>}
      <p>
        <Link to={paths.opsQuotas(matchId)} testId="ops-quotas-link">
          {texts.opsQuotas.link}
        </Link>
      </p>
      <OpsPolicyCheck matchId={matchId} nameOf={nameOf} version={0} isShort />
    </section>
  );
}
