import { useLanguage } from '../text/language.tsx';
import { SeatGlyph, type SeatAppearance } from './seat-glyph.tsx';

const appearances: SeatAppearance[] = ['available', 'chosen', 'held', 'sold', 'blocked'];

/** Explains how seats of each status and chosen seats are drawn. */
export function SeatLegend() {
  const { texts } = useLanguage();
  return (
    <ul className="seat-legend" aria-label={texts.seats.legend}>
      {appearances.map((appearance) => (
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
