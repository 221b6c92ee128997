import type { Seat } from '#contracts/seats';
import { type KeyboardEvent, memo, type MouseEvent, useMemo, useRef, useState } from 'react';
import { useLanguage } from '../text/language.tsx';
import { SeatGlyph, SeatLegend, type SeatAppearance } from './seat-glyph.tsx';
import { layOutSeats, type SeatOnMap, neighbourSeat, type SeatLayout, type SeatRow } from './seat-layout.ts';
import { useZoom } from './use-zoom.ts';

interface SeatMapProps {
  sectorName: string;
  seats: Seat[];
  chosen: readonly string[];
  onToggle: (seat: Seat) => void;
}

/**
 * The map with the seats of one sector. The Tab key stops once at the map; inside it arrow keys move, and space or Enter chooses
 * a seat. While the seats are drawn too small to be chosen, a tap or click zooms in.
 */
export function SeatMap({ sectorName, seats, chosen, onToggle }: SeatMapProps) {
  const { texts } = useLanguage();
  const layout = useMemo(() => layOutSeats(seats), [seats]);
  const frame = useRef<HTMLDivElement>(null);
  const zoom = useZoom(frame, layout);
  const [focusId, setFocusId] = useState<string>();
  const tabStop = focusId ?? chosen[0] ?? seats.find((seat) => seat.status === 'available')?.id ?? seats[0]?.id;

  const onClick = (event: MouseEvent<SVGSVGElement>) => {
    if (!zoom.canChooseSeats) return zoom.zoomToPoint(event.clientX, event.clientY);
    const seatId = (event.target as Element).closest('[data-seat]')?.getAttribute('data-seat');
    const seat = seats.find((candidate) => candidate.id === seatId);
    if (seat) onToggle(seat);
  };

  const onKeyDown = (event: KeyboardEvent<SVGSVGElement>) => {
    const seatId = (event.target as Element).getAttribute('data-seat');
    if (!seatId) return;
    if (event.key === ' ' || event.key === 'Enter') {
      event.preventDefault();
      const seat = seats.find((candidate) => candidate.id === seatId);
      if (seat) onToggle(seat);
      return;
    }
    const next = neighbourSeat(layout, seatId, event.key);
    if (!next) return;
    event.preventDefault();
    setFocusId(next.seat.id);
    event.currentTarget.querySelector<SVGGElement>(`[data-seat="${next.seat.id}"]`)?.focus();
  };

  return (
    <div className="seat-map" data-testid="seat-map">
      <div className="seat-map-tools">
        <p className="fine-print">{zoom.canChooseSeats ? '' : texts.seats.mapHint}</p>
        <div className="zoom-buttons">
          <button type="button" onClick={zoom.out} disabled={!zoom.canGoOut} aria-label={texts.seats.zoomOut}>
            −
          </button>
          <button type="button" onClick={zoom.in} disabled={!zoom.canGoIn} aria-label={texts.seats.zoomIn} data-testid="zoom-in">
            +
          </button>
          <button type="button" onClick={zoom.reset} disabled={!zoom.canGoOut} className="zoom-whole">
            {texts.seats.zoomAll}
          </button>
        </div>
      </div>
      <div className="seat-map-frame" ref={frame}>
        <svg
          viewBox={`0 0 ${layout.width} ${layout.height}`}
          width={zoom.width}
          height={(zoom.width * layout.height) / layout.width}
          role="group"
          aria-label={texts.seats.mapLabel(sectorName)}
          onClick={onClick}
          onKeyDown={onKeyDown}
        >
          <Seats layout={layout} chosen={chosen} tabStop={tabStop} />
        </svg>
      </div>
      <SeatLegend />
    </div>
  );
}

const Seats = memo(function Seats(props: { layout: SeatLayout; chosen: readonly string[]; tabStop: string | undefined }) {
  const { layout, chosen, tabStop } = props;
  const { texts } = useLanguage();
  return (
    <>
      <rect className="pitch" x="16" y="2" width={layout.width - 24} height="8" rx="2" />
      <text className="pitch-name" x={layout.width / 2 + 4} y="7.7" textAnchor="middle">
        {texts.seats.pitch}
      </text>
      {layout.rows.map((row) => (
        <g key={row.name}>
          <text className="row-name" x={leftmost(row).x - 7} y={leftmost(row).y + 1.6} textAnchor="end" aria-hidden="true">
            {row.name}
          </text>
          {row.seats.map((seatOnMap) => (
            <DrawnSeat
              key={seatOnMap.seat.id}
              seatOnMap={seatOnMap}
              appearance={chosen.includes(seatOnMap.seat.id) ? 'chosen' : seatOnMap.seat.status}
              isTabStop={seatOnMap.seat.id === tabStop}
            />
          ))}
        </g>
      ))}
    </>
  );
});

const leftmost = (row: SeatRow): { x: number; y: number } =>
  row.seats.reduce((best, seat) => (seat.x < best.x ? seat : best), { x: Number.POSITIVE_INFINITY, y: 0 });

const DrawnSeat = memo(function DrawnSeat({
  seatOnMap,
  appearance,
  isTabStop,
}: {
  seatOnMap: SeatOnMap;
  appearance: SeatAppearance;
  isTabStop: boolean;
}) {
  const { texts } = useLanguage();
  const { seat, x, y } = seatOnMap;
  return (
    <g
      className={`seat seat-${appearance}`}
      transform={`translate(${x.toFixed(2)} ${y.toFixed(2)})`}
      data-seat={seat.id}
      data-status={appearance}
      role="checkbox"
      aria-checked={appearance === 'chosen'}
      aria-disabled={appearance !== 'available' && appearance !== 'chosen'}
      aria-label={`${texts.seats.seatLabel(seat.row, seat.number)}, ${texts.seats.seatStatus[appearance]}`}
      tabIndex={isTabStop ? 0 : -1}
    >
      <rect className="seat-target" x="-5" y="-5" width="10" height="10" />
      <SeatGlyph appearance={appearance} />
    </g>
  );
});
