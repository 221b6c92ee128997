import { useLanguage } from '../text/language.tsx';
import { SeatGlyph, type SeatLook } from './seat-glyph.tsx';

const looks: SeatLook[] = ['available', 'chosen', 'held', 'sold', 'blocked'];

export function SeatLegend() {
  const { texts } = useLanguage();
  return (
    <ul className="seat-legend" aria-label={texts.seats.legend}>
      {looks.map((look) => (
        <li key={look}>
          <svg viewBox="-6 -6 12 12" width="22" height="22" aria-hidden="true" focusable="false">
            <g className={`seat seat-${look}`}>
              <SeatGlyph look={look} />
            </g>
          </svg>
          {texts.seats.seatStatus[look]}
        </li>
      ))}
    </ul>
  );
}
