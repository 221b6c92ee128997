import type { Match } from '#contracts/matches';
import type { Quota } from '#contracts/quotas';
import type { Sector } from '#contracts/sectors';
import { useRef, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Link } from '../parts/link.tsx';
import { Loading, ProblemNotice } from '../parts/notice.tsx';
import { OpsPolicyCheck } from '../parts/ops-policy-check.tsx';
import { OpsQuotaCard } from '../parts/ops-quota-card.tsx';
import { OpsQuotaCreate } from '../parts/ops-quota-create.tsx';
import { OpsQuotaLedger } from '../parts/ops-quota-ledger.tsx';
import { OpsQuotaOverview } from '../parts/ops-quota-overview.tsx';
import { OpsQuotaPending } from '../parts/ops-quota-pending.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { RoleNeeded, useMay } from '../parts/role-needed.tsx';
import { possibleParents, quotaTree } from '../parts/quota-tree.ts';
import { useLoaded } from '../parts/use-loaded.ts';
import { paths } from '../routes.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { matchTitle } from '../text/match-title.ts';

const refreshMs = 5_000;

/** The operators' page of the quotas of a match: their tree, moves, the ledger and the rules of competitions. */
export function OpsQuotasPage({ matchId }: { matchId: string }) {
  const { texts, format } = useStaffLanguage();
  const { api } = useAppServices();
  const { value: match, problem, reload } = useLoaded((signal) => api.match(matchId, signal), matchId);
  return (
    <>
      <Link to={paths.ops(matchId)} className="back-link">
        <Icon name="back" />
        {texts.opsQuotas.back}
      </Link>
      {!match && <Loading problem={problem} onRetry={reload} />}
      {match && (
        <>
          <PageTitle>{texts.opsQuotas.of(matchTitle(match))}</PageTitle>
          <p className="lead">
            {format.dateTime(match.kickoff_at)} · {match.venue}. {texts.opsQuotas.intro}
          </p>
          <Quotas match={match} />
        </>
      )}
    </>
  );
}

function Quotas({ match }: { match: Match }) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const allocation = useLoaded((signal) => api.allocation(match.id, signal), match.id, refreshMs);
  const sectors = useLoaded(async (signal) => (await api.sectors(match.id, signal)).items, match.id, refreshMs);
  const { value: quotas, problem, reload } = useLoaded((signal) => api.opsQuotas(match.id, signal), match.id, refreshMs);
  const [version, setVersion] = useState(0);
  const [happened, setHappened] = useState('');
  const heading = useRef<HTMLHeadingElement>(null);
  const { tree, public: publicName, unknownQuota } = texts.opsQuotas;
  const nameOf = (owner: string) =>
    owner === 'public' ? publicName : (quotas?.find(({ id }) => id === owner)?.name ?? unknownQuota);

  const onChange = (text?: string) => {
    for (const loaded of [allocation, sectors, { reload }]) loaded.reload();
    setVersion((previous) => previous + 1);
    if (text === undefined) return;
    setHappened(text);
    // The form with the button that had the focus is closed.
    heading.current?.focus();
  };

  return (
    <>
      <OpsQuotaOverview allocation={allocation.value} problem={allocation.problem} onRetry={allocation.reload} />
      <section className="quota-section" aria-labelledby="quota-tree">
        <h2 id="quota-tree" ref={heading} tabIndex={-1}>
          {tree.title}
        </h2>
        <p role="status" className="quota-happened" data-testid="quota-happened">
          {happened}
        </p>
        {!quotas && <Loading problem={problem} onRetry={reload} />}
        {quotas && problem && <ProblemNotice problem={problem} />}
        {quotas?.length === 0 && (
          <p className="fine-print" data-testid="quota-none">
            {tree.none}
          </p>
        )}
        {quotas && sectors.value && <QuotaTree {...{ match, quotas, onChange }} sectors={sectors.value} />}
      </section>
      <OpsQuotaPending matchId={match.id} nameOf={nameOf} onChange={onChange} />
      <section className="card quota-section" aria-labelledby="quota-policy">
        <h2 id="quota-policy">{texts.opsQuotas.policy.title}</h2>
        <OpsPolicyCheck matchId={match.id} nameOf={nameOf} version={version} />
      </section>
      <OpsQuotaLedger matchId={match.id} nameOf={nameOf} version={version} />
    </>
  );
}

interface QuotaTreeProps {
  match: Match;
  quotas: readonly Quota[];
  sectors: readonly Sector[];
  onChange: (happened: string) => void;
}

/** The tree of quotas, and below it the form for a new one. */
function QuotaTree({ match, quotas, sectors, onChange }: QuotaTreeProps) {
  const { texts } = useStaffLanguage();
  const [form, setForm] = useState<'open' | 'cancelled'>();
  const mayChange = useMay('ops:sale');
  const nodes = quotaTree(quotas);
  const onCreated = (happened: string) => {
    setForm(undefined);
    onChange(happened);
  };
  return (
    <>
      {nodes.length > 0 && (
        <ul className="quota-tree" aria-labelledby="quota-tree">
          {nodes.map((node) => (
            <OpsQuotaCard key={node.quota.id} {...{ node, match, quotas, sectors, onChange }} />
          ))}
        </ul>
      )}
      <RoleNeeded access="ops:sale" work="quotas" />
      {mayChange && form === 'open' && (
        <div className="card quota-section">
          <h3>{texts.opsQuotas.create.label}</h3>
          <OpsQuotaCreate
            {...{ match, sectors }}
            parents={possibleParents(nodes)}
            onDone={onCreated}
            onCancel={() => setForm('cancelled')}
          />
        </div>
      )}
      {mayChange && form !== 'open' && (
        // After "cancel" the focus returns to this button.
        <Button tone="primary" autoFocus={form === 'cancelled'} onClick={() => setForm('open')} testId="quota-new">
          {texts.opsQuotas.create.label}
        </Button>
      )}
    </>
  );
}
