import { useAppServices } from '../api/app-services.ts';
import { LoadingFailed, Loading } from '../parts/loading.tsx';
import { MatchSearchField } from '../parts/match-search-field.tsx';
import { OpsBlacklist } from '../parts/ops-blacklist.tsx';
import { OpsMatchCard } from '../parts/ops-match-card.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { useMatchSearch } from '../parts/use-match-search.ts';
import { navigate, paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';

const refreshMs = 5_000;

/**
 * The page for operators. Only one match card is open at a time. An open card polls every two seconds, and the API limits
 * requests per IP address.
 */
export function OpsPage({ chosenId }: { chosenId: string | undefined }) {
  const { texts } = useLanguage();
  const { api } = useAppServices();
  const search = useMatchSearch(api.opsMatches, refreshMs);
  const { value, problem, reload, text } = search;
  const open = chosenId ?? value?.items[0]?.id;
  return (
    <>
      <PageTitle documentTitle={texts.ops.title}>{texts.ops.title}</PageTitle>
      <p className="lead">{texts.ops.intro}</p>
      <MatchSearchField search={search} />
      {!value && (problem ? <LoadingFailed problem={problem} onRetry={reload} /> : <Loading />)}
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
