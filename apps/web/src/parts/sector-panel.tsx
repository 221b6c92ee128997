import { useEffect, useRef, useState } from 'react';
import { useTribina } from '../api/tribina-context.ts';
import type { Match, Seat, Sector } from '../api/types.ts';
import { useLanguage } from '../text/language.tsx';
import { afterToggle } from './chosen-seats.ts';
import { Loading } from './loading.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { QuantityPicker } from './quantity-picker.tsx';
import { SeatMap } from './seat-map.tsx';
import { Sign } from './sign.tsx';
import type { Hold } from './use-hold.ts';
import { useLoaded } from './use-loaded.ts';

/** The most one hold may ask for (CONTRACT §5), whatever the match allows. */
const mostPerHold = 20;
const seatsRefreshMs = 10_000;

interface SectorPanelProps {
  match: Match;
  sector: Sector;
  hold: Hold;
  onBack: () => void;
}

export function SectorPanel({ match, sector, hold, onBack }: SectorPanelProps) {
  const { texts, format } = useLanguage();
  const most = Math.min(match.max_tickets_per_fan, mostPerHold);
  const [quantity, setQuantity] = useState(Math.min(2, most));
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    heading.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const isStanding = sector.kind === 'standing';
  const bestText = isStanding ? texts.seats.holdStanding : texts.seats.holdBest;
  return (
    <section className="card sector-panel" data-testid="sector-panel">
      <button type="button" className="link-button sector-back" onClick={onBack}>
        <Sign name="back" /> {texts.seats.changeSector}
      </button>
      <div className="sector-panel-heading">
        <h2 ref={heading} tabIndex={-1}>
          {sector.name}
        </h2>
        <p>
          <strong>{format.money(sector.price_cents, sector.currency)}</strong> {texts.seats.each}
          {' · '}
          {texts.seats.freeOf(format.number(sector.available), format.number(sector.capacity))}
        </p>
      </div>
      {hold.problem && <ProblemNotice problem={hold.problem} />}
      <section className="best">
        <h3>{isStanding ? texts.seats.standing : texts.seats.bestTitle}</h3>
        <p className="fine-print">{isStanding ? texts.seats.standingText : texts.seats.bestText}</p>
        <div className="best-row">
          <QuantityPicker value={quantity} max={most} onChange={setQuantity} />
          <button
            type="button"
            className="button button-primary"
            disabled={hold.busy}
            onClick={() => hold.take({ sector_id: sector.id, quantity })}
            data-testid="hold-best"
          >
            {hold.busy ? texts.seats.holding : bestText}
          </button>
        </div>
      </section>
      {!isStanding && <ChooseOnMap match={match} sector={sector} hold={hold} most={most} />}
    </section>
  );
}

function ChooseOnMap({ match, sector, hold, most }: Omit<SectorPanelProps, 'onBack'> & { most: number }) {
  const { texts, format } = useLanguage();
  const { tribina } = useTribina();
  const { value: seats, reload } = useLoaded(
    (signal) => tribina.seats(match.id, sector.id, signal),
    `${match.id}/${sector.id}`,
    seatsRefreshMs,
  );
  const [wanted, setWanted] = useState<string[]>([]);
  const [atLimit, setAtLimit] = useState(false);

  // Somebody else's success shows up here first: look again at once instead of at the next round.
  const { problem } = hold;
  useEffect(() => {
    if (problem) reload();
  }, [problem, reload]);

  if (!seats) return <Loading />;
  if (seats.items.length === 0) return null;
  const free = new Set(seats.items.filter((seat) => seat.status === 'available').map((seat) => seat.id));
  const chosen = wanted.filter((id) => free.has(id));
  const lost = wanted.length - chosen.length;

  const toggle = (seat: Seat) => {
    const next = afterToggle({ chosen, atLimit }, seat, most);
    setAtLimit(next.atLimit);
    if (next.chosen !== chosen) setWanted(next.chosen);
  };

  const names = seats.items.filter((seat) => chosen.includes(seat.id)).map((seat) => texts.seats.seat(seat.row, seat.number));
  return (
    <section className="by-map">
      <h3>{texts.seats.mapTitle}</h3>
      <SeatMap sectorName={sector.name} seats={seats.items} chosen={chosen} onToggle={toggle} />
      <div className={chosen.length > 0 ? 'chosen-bar chosen-bar-sticky' : 'chosen-bar'}>
        {lost > 0 && <Notice tone="warning">{texts.seats.chosenGone}</Notice>}
        {atLimit && <Notice tone="warning">{texts.seats.limitHere(most)}</Notice>}
        <div className="chosen-names" aria-live="polite">
          <p className="chosen-count">
            {chosen.length === 0 ? texts.seats.chosenNone : texts.seats.chosen(chosen.length)}
            {chosen.length > 0 && <strong> · {format.money(chosen.length * sector.price_cents, sector.currency)}</strong>}
          </p>
          {chosen.length > 0 && <p className="fine-print">{names.join('; ')}</p>}
        </div>
        <div className="button-row">
          {chosen.length > 0 && (
            <button type="button" className="button button-quiet" onClick={() => setWanted([])}>
              {texts.seats.clear}
            </button>
          )}
          <button
            type="button"
            className="button button-primary"
            disabled={hold.busy || chosen.length === 0}
            onClick={() => hold.take({ seat_ids: chosen })}
            data-testid="hold-chosen"
          >
            {hold.busy ? texts.seats.holding : texts.seats.holdChosen}
          </button>
        </div>
      </div>
    </section>
  );
}
