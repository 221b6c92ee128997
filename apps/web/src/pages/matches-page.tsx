import { useAppServices } from '../api/app-services.ts';
import { MatchCard } from '../parts/match-card.tsx';
import { MatchSearchField } from '../parts/match-search-field.tsx';
import { Loading } from '../parts/notice.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { useMatchSearch } from '../parts/use-match-search.ts';
import { useLanguage } from '../text/language.tsx';

const refreshMs = 30_000;

export function MatchesPage() {
  const { texts } = useLanguage();
  const { api } = useAppServices();
  const search = useMatchSearch(api.matches, refreshMs);
  const { problem, reload } = search;
  const matches = search.value?.items;
  return (
    <>
      <PageTitle>{texts.matches.title}</PageTitle>
      <p className="lead">{texts.matches.intro}</p>
      <MatchSearchField search={search} />
      {!matches && <Loading problem={problem} onRetry={reload} />}
      {matches?.length === 0 && !search.text && <p className="empty">{texts.matches.empty}</p>}
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
