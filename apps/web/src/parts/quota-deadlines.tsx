import type { Match } from '#contracts/matches';
import type { Quota } from '#contracts/quotas';
import { useStaffLanguage } from '../text/staff-language.ts';

/** The times that matter to the partner of a quota. */
export function QuotaDeadlines({ quota, match }: { quota: Quota; match: Pick<Match, 'kickoff_at'> }) {
  const { texts, format } = useStaffLanguage();
  const { deadlines } = texts.quotas;
  const returns: [string, string | null, string] = quota.returned_at
    ? [deadlines.returned, quota.returned_at, '']
    : [deadlines.returns, quota.on_return === 'keep' ? null : quota.return_at, deadlines.never];
  const rows: [string, string | null, string][] = [
    [deadlines.opens, quota.opens_at, deadlines.atOnce],
    [deadlines.until, quota.claim_until, deadlines.noEnd],
    returns,
    [deadlines.kickoff, match.kickoff_at, ''],
  ];
  return (
    <dl className="partner-deadlines">
      {rows.map(([label, time, none]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{time === null ? none : <time dateTime={time}>{format.dateTime(time)}</time>}</dd>
        </div>
      ))}
    </dl>
  );
}
