import type { SeatStatus } from '#contracts/seats';
import { useLanguage } from '../text/language.tsx';

/** How a seat is drawn: by its status, or as chosen by this fan. */
export type SeatAppearance = SeatStatus | 'chosen';

/** The radius of the circle of a seat and the path on it, for a seat at the origin; the next seat is 10 units away. */
const drawings: Record<SeatAppearance, { radius?: number; path?: string }> = {
  available: { radius: 3.9 },
  chosen: { radius: 4.6, path: 'M-2 .1-.6 1.6 2.1-1.5' },
  held: { radius: 3.4, path: 'M0-1.9V.2H1.5' },
  sold: { path: 'M-2.2-2.2 2.2 2.2M2.2-2.2-2.2 2.2' },
  blocked: { path: 'M-2.4 0H2.4' },
};

/** The drawing of one seat. Each appearance has its own shape in addition to its colour. */
export function SeatGlyph({ appearance }: { appearance: SeatAppearance }) {
  const { radius, path } = drawings[appearance];
  return (
    <>
      {radius && <circle r={radius} />}
      {path && <path d={path} />}
    </>
  );
}

/** Explains how seats of each status and chosen seats are drawn. */
export function SeatLegend() {
  const { texts } = useLanguage();
  return (
    <ul className="seat-legend" aria-label={texts.seats.legend}>
      {(['available', 'chosen', 'held', 'sold', 'blocked'] as const).map((appearance) => (
        <li key={appearance}>
          <svg viewBox="-6 -6 12 12" width="22" height="22" aria-hidden="true" focusable="false">
            <g className={`seat seat-${appearance}`}>
              <SeatGlyph appearance={appearance} />
            </g>
          </svg>
          {texts.seats.seatStatus[appearance]}
        </li>
      ))}
    </ul>
  );
}
