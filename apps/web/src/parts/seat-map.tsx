import { type KeyboardEvent, memo, type MouseEvent, useMemo, useRef, useState } from 'react';
import type { Seat } from '../api/types.ts';
import { useLanguage } from '../text/language.tsx';
import { SeatGlyph, type SeatLook } from './seat-glyph.tsx';
import { layOutSeats, type SeatOnMap, seatBeside, type SeatLayout, type SeatRow, stepOfKey } from './seat-layout.ts';
import { SeatLegend } from './seat-legend.tsx';
import { useZoom } from './use-zoom.ts';

interface SeatMapProps {
  sectorName: string;
  seats: Seat[];
  chosen: readonly string[];
  onToggle: (seat: Seat) => void;
}

/** The seats of one sector. One tab stop; arrows walk, space chooses; on a phone a tap comes closer before it chooses. */
export function SeatMap({ sectorName, seats, chosen, onToggle }: SeatMapProps) {
  const { texts } = useLanguage();
  const layout = useMemo(() => layOutSeats(seats), [seats]);
  const frame = useRef<HTMLDivElement>(null);
  const zoom = useZoom(frame, layout);
  const [focusId, setFocusId] = useState<string>();
  const tabStop = focusId ?? chosen[0] ?? seats.find((seat) => seat.status === 'available')?.id ?? seats[0]?.id;

  const click = (event: MouseEvent<SVGSVGElement>) => {
    if (!zoom.isReachable) return zoom.comeCloser(event.clientX, event.clientY);
    const seatId = (event.target as Element).closest('[data-seat]')?.getAttribute('data-seat');
    const seat = seats.find((each) => each.id === seatId);
    if (seat) onToggle(seat);
  };

  const press = (event: KeyboardEvent<SVGSVGElement>) => {
    const seatId = (event.target as Element).getAttribute('data-seat');
    if (!seatId) return;
    if (event.key === ' ' || event.key === 'Enter') {
      event.preventDefault();
      const seat = seats.find((each) => each.id === seatId);
      if (seat) onToggle(seat);
      return;
    }
    const step = stepOfKey(event.key);
    const next = step && seatBeside(layout, seatId, step);
    if (!next) return;
    event.preventDefault();
    setFocusId(next.seat.id);
    event.currentTarget.querySelector<SVGGElement>(`[data-seat="${next.seat.id}"]`)?.focus();
  };

  return (
    <div className="seat-map" data-testid="seat-map">
      <div className="seat-map-tools">
        <p className="fine-print">{zoom.isReachable ? '' : texts.seats.mapHint}</p>
        <div className="zoom-buttons">
          <button type="button" onClick={zoom.out} disabled={!zoom.canGoOut} aria-label={texts.seats.zoomOut}>
            −
          </button>
          <button type="button" onClick={zoom.in} disabled={!zoom.canGoIn} aria-label={texts.seats.zoomIn} data-testid="zoom-in">
            +
          </button>
          <button type="button" onClick={zoom.whole} disabled={!zoom.canGoOut} className="zoom-whole">
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
          onClick={click}
          onKeyDown={press}
        >
          <Drawing layout={layout} chosen={chosen} tabStop={tabStop} />
        </svg>
      </div>
      <SeatLegend />
    </div>
  );
}

const Drawing = memo(function Drawing(props: { layout: SeatLayout; chosen: readonly string[]; tabStop: string | undefined }) {
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
          {row.seats.map((placed) => (
            <DrawnSeat
              key={placed.seat.id}
              placed={placed}
              look={chosen.includes(placed.seat.id) ? 'chosen' : placed.seat.status}
              isTabStop={placed.seat.id === tabStop}
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
  placed,
  look,
  isTabStop,
}: {
  placed: SeatOnMap;
  look: SeatLook;
  isTabStop: boolean;
}) {
  const { texts } = useLanguage();
  const { seat, x, y } = placed;
  return (
    <g
      className={`seat seat-${look}`}
      transform={`translate(${x.toFixed(2)} ${y.toFixed(2)})`}
      data-seat={seat.id}
      data-status={look}
      role="checkbox"
      aria-checked={look === 'chosen'}
      aria-disabled={look !== 'available' && look !== 'chosen'}
      aria-label={`${texts.seats.seat(seat.row, seat.number)}, ${texts.seats.seatStatus[look]}`}
      tabIndex={isTabStop ? 0 : -1}
    >
      <rect className="seat-target" x="-5" y="-5" width="10" height="10" />
      <SeatGlyph look={look} />
    </g>
  );
});
