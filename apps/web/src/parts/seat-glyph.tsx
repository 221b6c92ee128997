import type { SeatStatus } from '../api/types.ts';

export type SeatLook = SeatStatus | 'chosen';

/** One seat around the origin, 10 units to its neighbour. Each state has its own shape, so that colour is never needed. */
export function SeatGlyph({ look }: { look: SeatLook }) {
  switch (look) {
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
