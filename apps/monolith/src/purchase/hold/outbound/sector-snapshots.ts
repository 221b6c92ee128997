import { SectorMap } from '#domain/purchase/sector-map';
import type { DataSource } from 'typeorm';
import type { SeatChangeListener } from './seat-change-broadcast.ts';
import { FREE, SectorSnapshot, type SeatLook, type SectorSeats } from './sector-snapshot.ts';

const FORGET_AFTER_MS = 600_000;

interface LaidOutSeats extends SectorSeats {
  readonly rowIndices: readonly number[];
  readonly ranks: readonly number[];
}

const NO_SEATS: LaidOutSeats = { ids: [], rows: [], numbers: [], rowIndices: [], ranks: [] };

/** Row by row and seat by seat, as the map numbers its places: in one row of the answer, for 2,000 rows keep the event loop for 10 ms. */
const IN_ORDER = (what: string): string => `coalesce(json_agg(${what} order by row_index, coalesce(number, rank), rank), '[]')`;
const SEATS = `
  select ${IN_ORDER('id')} as ids, ${IN_ORDER('row_label')} as rows, ${IN_ORDER('number')} as numbers,
         ${IN_ORDER('row_index')} as "rowIndices", ${IN_ORDER('rank')} as ranks
  from seats where sector_id = $1`;
const LOOK = `
  select coalesce(string_agg(case when free then '${FREE}' else '-' end, '' order by row_index, coalesce(number, rank), rank), '') as letters,
         ${IN_ORDER('place')} as "ctids",
         (extract(epoch from min(expires_at) filter (where not free)) * 1000)::float8 as "nextExpiryMs"
  from (select row_index, number, rank, ctid::text as place, expires_at,
               (status = 'available' or (status = 'held' and expires_at <= now())) as free
        from seats where sector_id = $1) s`;

/** Every sector this process sells from. A sector of 2,000 seats is about half a megabyte. */
export class SectorSnapshots implements SeatChangeListener {
  private readonly underWay = new Map<string, Promise<SectorSnapshot>>();
  private readonly loaded = new Map<string, SectorSnapshot>();
  private tidyAt = 0;

  constructor(private readonly dataSource: DataSource) {}

  of(sectorId: string): Promise<SectorSnapshot> {
    const known = this.loadedOf(sectorId);
    if (known) return Promise.resolve(known);
    const underWay = this.underWay.get(sectorId);
    if (underWay) return underWay;
    const made = this.load(sectorId).finally(() => this.underWay.delete(sectorId));
    this.underWay.set(sectorId, made);
    return made;
  }

  /** The same, where nobody has to wait for it. */
  loadedOf(sectorId: string): SectorSnapshot | undefined {
    this.forgetUnused(Date.now());
    const picture = this.loaded.get(sectorId);
    picture?.use();
    return picture;
  }

  taken(sectorId: string, seatIds: readonly string[], until: number): void {
    this.loaded.get(sectorId)?.takenElsewhere(seatIds, until);
  }

  freed(sectorId: string): void {
    this.loaded.get(sectorId)?.suspect();
  }

  missedSome(): void {
    for (const picture of this.loaded.values()) picture.suspect();
  }

  /** Matches come and go while the process stays. */
  private forgetUnused(now: number): void {
    if (now < this.tidyAt) return;
    this.tidyAt = now + FORGET_AFTER_MS / 10;
    for (const [sectorId, picture] of this.loaded) {
      if (picture.isUnused(now - FORGET_AFTER_MS)) this.loaded.delete(sectorId);
    }
  }

  private async load(sectorId: string): Promise<SectorSnapshot> {
    const read = async (): Promise<SeatLook> => {
      const [look] = await this.dataSource.query<SeatLook[]>(LOOK, [sectorId]);
      if (!look) throw new Error('a look at a sector is one row');
      return look;
    };
    // The looks of a sector that is not there are as empty as its seats.
    const [[seats], look] = await Promise.all([this.dataSource.query<LaidOutSeats[]>(SEATS, [sectorId]), read()]);
    const { ids, rows, numbers, rowIndices, ranks } = seats ?? NO_SEATS;
    const places = rowIndices.map((rowIndex, place) => ({ rowIndex, number: numbers[place] ?? null, rank: ranks[place] ?? 0 }));
    const picture = new SectorSnapshot(new SectorMap(places), { ids, rows, numbers }, read);
    picture.see(look);
    this.loaded.set(sectorId, picture);
    return picture;
  }
}
