import type { Match } from '#contracts/matches';
import type { Quota } from '#contracts/quotas';
import type { Sector } from '#contracts/sectors';
import { useRef, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { Icon } from '../parts/icon.tsx';
import { InvitationList } from '../parts/invitation-list.tsx';
import { InviteList } from '../parts/invite-list.tsx';
import { InvitePerson } from '../parts/invite-person.tsx';
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

/** What the page loads. */
interface QuotaData {
  quota: Quota;
  match: Match;
  /** The sectors in which the quota has places. */
  sectors: readonly Sector[];
}

/** The partner's page of one quota: its numbers, the forms that invite people, and the invitations. */
export function QuotaPage({ quotaId }: { quotaId: string }) {
  const { texts } = useStaffLanguage();
  const { api, caller } = useAppServices();
  const load = async (signal: AbortSignal): Promise<QuotaData> => {
    const quota = await api.quota(quotaId, signal);
    const [match, { items }] = await Promise.all([api.match(quota.match_id, signal), api.sectors(quota.match_id, signal)]);
    const own = new Set(quota.by_sector.map(({ sector_id }) => sector_id));
    return { quota, match, sectors: items.filter(({ id }) => own.has(id)) };
  };
  const { value, problem, reload } = useLoaded(load, caller.signedIn ? quotaId : undefined, refreshMs);
  return (
    <>
      <Link to={paths.quotas} className="back-link">
        <Icon name="back" /> {texts.quotas.back}
      </Link>
      {!caller.signedIn && <Notice tone="info">{texts.quotas.signIn}</Notice>}
      {caller.signedIn && !value && <Loading problem={problem} onRetry={reload} />}
      {value && problem && <ProblemNotice problem={problem} />}
      {value && <OpenedQuota data={value} onChange={reload} />}
    </>
  );
}

function OpenedQuota({ data: { quota, match, sectors }, onChange }: { data: QuotaData; onChange: () => void }) {
  const { texts } = useStaffLanguage();
  const [changes, setChanges] = useState(0);
  const [happened, setHappened] = useState('');
  const heading = useRef<HTMLHeadingElement>(null);
  const onAct = (text?: string) => {
    setChanges((previous) => previous + 1);
    setHappened(text ?? '');
    onChange();
  };
  return (
    <>
      <PageTitle>{quota.name}</PageTitle>
      <p className="lead">{matchTitle(match)}</p>
      <section className="card partner-quota" aria-label={texts.quotas.numbers.label}>
        <QuotaNumbers places={quota.places} />
        <QuotaDeadlines quota={quota} match={match} />
      </section>
      {quota.status === 'returned' ? (
        <Notice tone="warning">{texts.quotas.closed}</Notice>
      ) : (
        <div className="invite">
          <InvitePerson quota={quota} sectors={sectors} onInvited={onAct} />
          <InviteList quotaId={quota.id} sectors={sectors} onInvited={onAct} />
        </div>
      )}
      <InvitationList quotaId={quota.id} changes={changes} happened={happened} heading={heading} onChange={onAct} />
    </>
  );
}
