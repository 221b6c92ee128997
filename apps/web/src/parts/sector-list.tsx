import type { Sector } from '#contracts/sectors';
import { useLanguage } from '../text/language.tsx';

interface SectorListProps {
  sectors: Sector[];
  chosenId: string | undefined;
  onChoose: (sectorId: string) => void;
}

/** The level of a sector's availability bars: none, few (under 10 % of the seats) or many. */
function levelOf(sector: Sector): 'none' | 'few' | 'many' {
  if (sector.available === 0) return 'none';
  return sector.available < sector.capacity * 0.1 ? 'few' : 'many';
}

/** The list of sectors with price and available seats, from which the fan chooses one. */
export function SectorList({ sectors, chosenId, onChoose }: SectorListProps) {
  const { texts, format } = useLanguage();
  return (
    <ul className="sector-list" aria-label={texts.seats.sectors}>
      {sectors.map((sector) => (
        <li key={sector.id}>
          <button
            type="button"
            className="sector-row"
            aria-pressed={sector.id === chosenId}
            onClick={() => onChoose(sector.id)}
            data-testid="sector-row"
            data-sector-id={sector.id}
            data-available={sector.available}
          >
            <span className="sector-name">{sector.name}</span>
            <span className="sector-kind">
              {sector.kind === 'standing' ? texts.seats.standing : texts.seats.seated}
              {sector.gate && ` · ${texts.seats.gate(sector.gate)}`}
              {sector.wheelchair && ` · ${texts.seats.wheelchair}`}
            </span>
            <span className="sector-price" data-testid="sector-price">
              {format.money(sector.price_cents, sector.currency)}
            </span>
            <span className={`sector-level level-${levelOf(sector)}`}>
              <LevelBars level={levelOf(sector)} />
              {sector.available === 0 ? texts.seats.none : texts.seats.free(sector.available)}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function LevelBars({ level }: { level: 'none' | 'few' | 'many' }) {
  return (
    <svg className="level-bars" viewBox="0 0 14 12" width="14" height="12" aria-hidden="true" focusable="false">
      <rect x="0" y="7" width="3.5" height="5" rx="1" className={level === 'none' ? 'bar' : 'bar bar-on'} />
      <rect x="5" y="4" width="3.5" height="8" rx="1" className={level === 'many' ? 'bar bar-on' : 'bar'} />
      <rect x="10" y="1" width="3.5" height="11" rx="1" className={level === 'many' ? 'bar bar-on' : 'bar'} />
    </svg>
  );
}
