import type { Match } from '#contracts/matches';
import type { Seat } from '#contracts/seats';
import type { Sector } from '#contracts/sectors';
import { useEffect, useId, useRef, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useLanguage } from '../text/language.tsx';
import { Button } from './button.tsx';
import { toggleSeat } from './chosen-seats.ts';
import { Icon } from './icon.tsx';
import { Loading, Notice, ProblemNotice } from './notice.tsx';
import { SeatMap } from './seat-map.tsx';
import type { Hold } from './use-hold.ts';
import { useLoaded } from './use-loaded.ts';

/** A hold may have at most 20 seats (CONTRACT §5), even if the match allows more tickets per fan. */
const maxSeatsPerHold = 20;
const seatsRefreshMs = 10_000;

interface SectorPanelProps {
  match: Match;
  sector: Sector;
  hold: Hold;
  onBack: () => void;
}

/** Lets the fan hold seats of one sector: a number of seats, or seats chosen on the map. */
export function SectorPanel({ match, sector, hold, onBack }: SectorPanelProps) {
  const { texts, format } = useLanguage();
  const maxSeats = Math.min(match.max_tickets_per_fan, maxSeatsPerHold);
  const [quantity, setQuantity] = useState(Math.min(2, maxSeats));
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
        <Icon name="back" /> {texts.seats.changeSector}
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
          <QuantityPicker value={quantity} max={maxSeats} onChange={setQuantity} />
          <Button
            tone="primary"
            disabled={hold.isBusy}
            onClick={() => hold.holdSeats({ sector_id: sector.id, quantity })}
            testId="hold-best"
          >
            {hold.isBusy ? texts.seats.holding : bestText}
          </Button>
        </div>
      </section>
      {!isStanding && <ChooseOnMap match={match} sector={sector} hold={hold} maxSeats={maxSeats} />}
    </section>
  );
}

function ChooseOnMap({ match, sector, hold, maxSeats }: Omit<SectorPanelProps, 'onBack'> & { maxSeats: number }) {
  const { texts, format } = useLanguage();
  const { api } = useAppServices();
  const load = (signal: AbortSignal) => api.seats(match.id, sector.id, signal);
  const { value: seats, reload } = useLoaded(load, `${match.id}/${sector.id}`, seatsRefreshMs);
  const [selectedIds, setSelectedIds] = useState<string[]>([]);
  const [isOverLimit, setIsOverLimit] = useState(false);

  // A failed hold often means that another fan took the seats: reload the seats now instead of at the next refresh.
  const { problem } = hold;
  useEffect(() => {
    if (problem) reload();
  }, [problem, reload]);

  if (!seats) return <Loading />;
  if (seats.items.length === 0) return null;
  const availableIds = new Set(seats.items.filter((seat) => seat.status === 'available').map((seat) => seat.id));
  const chosen = selectedIds.filter((id) => availableIds.has(id));
  const takenCount = selectedIds.length - chosen.length;

  const toggle = (seat: Seat) => {
    const next = toggleSeat({ chosen, isOverLimit }, seat, maxSeats);
    setIsOverLimit(next.isOverLimit);
    if (next.chosen !== chosen) setSelectedIds(next.chosen);
  };

  const names = seats.items
    .filter((seat) => chosen.includes(seat.id))
    .map((seat) => texts.seats.seatLabel(seat.row, seat.number));
  return (
    <section className="by-map">
      <h3>{texts.seats.mapTitle}</h3>
      <SeatMap sectorName={sector.name} seats={seats.items} chosen={chosen} onToggle={toggle} />
      <div className={chosen.length > 0 ? 'chosen-bar chosen-bar-sticky' : 'chosen-bar'}>
        {takenCount > 0 && <Notice tone="warning">{texts.seats.chosenGone}</Notice>}
        {isOverLimit && <Notice tone="warning">{texts.seats.limitHere(maxSeats)}</Notice>}
        <div className="chosen-names" aria-live="polite">
          <p className="chosen-count">
            {chosen.length === 0 ? texts.seats.chosenNone : texts.seats.chosen(chosen.length)}
            {chosen.length > 0 && <strong> · {format.money(chosen.length * sector.price_cents, sector.currency)}</strong>}
          </p>
          {chosen.length > 0 && <p className="fine-print">{names.join('; ')}</p>}
        </div>
        <div className="button-row">
          {chosen.length > 0 && (
            <Button tone="quiet" onClick={() => setSelectedIds([])}>
              {texts.seats.clear}
            </Button>
          )}
          <Button
            tone="primary"
            disabled={hold.isBusy || chosen.length === 0}
            onClick={() => hold.holdSeats({ seat_ids: chosen })}
            testId="hold-chosen"
          >
            {hold.isBusy ? texts.seats.holding : texts.seats.holdChosen}
          </Button>
        </div>
      </div>
    </section>
  );
}

interface QuantityPickerProps {
  value: number;
  max: number;
  onChange: (value: number) => void;
}

/** The field and the buttons for the number of seats, from 1 to `max`. */
function QuantityPicker({ value, max, onChange }: QuantityPickerProps) {
  const { texts } = useLanguage();
  const id = useId();
  const set = (next: number) => onChange(Math.min(max, Math.max(1, Math.round(next) || 1)));
  return (
    <div className="quantity">
      <label htmlFor={id}>{texts.seats.quantity}</label>
      <div className="stepper">
        <button type="button" onClick={() => set(value - 1)} disabled={value <= 1} aria-label={texts.seats.fewer}>
          −
        </button>
        <input
          id={id}
          type="number"
          inputMode="numeric"
          min={1}
          max={max}
          value={value}
          onChange={(event) => set(event.target.valueAsNumber)}
          data-testid="quantity"
        />
        <button type="button" onClick={() => set(value + 1)} disabled={value >= max} aria-label={texts.seats.more}>
          +
        </button>
      </div>
    </div>
  );
}
