import { useAppServices } from '../api/app-services.ts';
import { MatchCard } from '../parts/match-card.tsx';
import { Loading } from '../parts/notice.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { useLanguage } from '../text/language.tsx';

const refreshMs = 30_000;

export function MatchesPage() {
  const { texts } = useLanguage();
  const { api } = useAppServices();
  const { value, problem, reload } = useLoaded((signal) => api.matches(signal), 'matches', refreshMs);
  const matches = value?.items.toSorted((a, b) => a.kickoff_at.localeCompare(b.kickoff_at));
  return (
    <>
      <PageTitle>{texts.matches.title}</PageTitle>
      <p className="lead">{texts.matches.intro}</p>
      {!matches && <Loading problem={problem} onRetry={reload} />}
      {matches?.length === 0 && <p className="empty">{texts.matches.empty}</p>}
      {matches && matches.length > 0 && (
        <ul className="match-list">
          {matches.map((match) => (
            <MatchCard key={match.id} match={match} />
          ))}
        </ul>
      )}
    </>
  );
}
