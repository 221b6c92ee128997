import type { Match } from '#contracts/matches';
import { useState } from 'react';
import { useLanguage } from '../text/language.tsx';
import { Loading } from './notice.tsx';
import { SectorList } from './sector-list.tsx';
import { SectorPanel } from './sector-panel.tsx';
import type { Hold } from './use-hold.ts';
import { useSectors } from './use-sectors.ts';

/**
 * Lets the fan choose a sector and then seats in it. A phone shows the sectors and the seats one after the other, a wide screen
 * side by side.
 */
export function SeatChoice({ match, hold }: { match: Match; hold: Hold }) {
  const { texts } = useLanguage();
  const { value: sectors, problem, reload } = useSectors(match.id);
  const [chosenId, setChosenId] = useState<string>();
  if (!sectors) return <Loading problem={problem} onRetry={reload} />;
  const chosen = sectors.find((sector) => sector.id === chosenId);
  return (
    <div className={chosen ? 'seat-choice seat-choice-deep' : 'seat-choice'} data-testid="seat-choice">
      <section className="card sector-column">
        <h2>{texts.seats.title}</h2>
        <p className="fine-print">{texts.seats.limitHere(match.max_tickets_per_fan)}</p>
        <SectorList sectors={sectors} chosenId={chosenId} onChoose={setChosenId} />
      </section>
      {chosen ? (
        <SectorPanel key={chosen.id} match={match} sector={chosen} hold={hold} onBack={() => setChosenId(undefined)} />
      ) : (
        <p className="card sector-panel-empty">{texts.seats.chooseFirst}</p>
      )}
    </div>
  );
}
