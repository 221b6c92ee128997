import type { SeatStatus } from '#contracts/seats';

/** How a seat is drawn: by its status, or as chosen by this fan. */
export type SeatAppearance = SeatStatus | 'chosen';

/**
 * The drawing of one seat, centred at the origin; the next seat is 10 units away. Each appearance has its own shape in addition
 * to its colour.
 */
export function SeatGlyph({ appearance }: { appearance: SeatAppearance }) {
  switch (appearance) {
    case 'available':
      return <circle r="3.9" />;
    case 'chosen':
      return (
        <>
          <circle r="4.6" />
          <path d="M-2 .1-.6 1.6 2.1-1.5" />
        </>
      );
    case 'held':
      return (
        <>
          <circle r="3.4" />
          <path d="M0-1.9V.2H1.5" />
        </>
      );
    case 'sold':
      return <path d="M-2.2-2.2 2.2 2.2M2.2-2.2-2.2 2.2" />;
    case 'blocked':
      return <path d="M-2.4 0H2.4" />;
  }
}
