import { useTribina } from '../api/tribina-context.ts';
import { Failed, Loading } from '../parts/loading.tsx';
import { OpsBlacklist } from '../parts/ops-blacklist.tsx';
import { OpsMatchCard } from '../parts/ops-match-card.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { navigate, paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';

const refreshMs = 5_000;

/** One match is open at a time, so that numbers every two seconds stay far from the rate limit of an address. */
export function OpsPage({ chosenId }: { chosenId: string | undefined }) {
  const { texts } = useLanguage();
  const { tribina } = useTribina();
  const { value, problem, reload } = useLoaded((signal) => tribina.opsMatches(signal), 'ops', refreshMs);
  const open = chosenId ?? value?.items[0]?.id;
  return (
    <>
      <PageTitle documentTitle={texts.ops.title}>{texts.ops.title}</PageTitle>
      <p className="lead">{texts.ops.intro}</p>
      {!value && (problem ? <Failed problem={problem} onRetry={reload} /> : <Loading />)}
      {value?.items.length === 0 && <p className="empty">{texts.ops.empty}</p>}
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
