import { contractTests, type PurchaseSetup } from './purchase-setup.ts';

/** The tests that every `SectorReader` must pass. */
export function sectorReaderContract(open: () => PurchaseSetup): void {
  const check = contractTests(open);

  check('the seats of a sector are sorted by row, and in a row by number', async (p) => {
    const sector = await p.addSector(await p.addMatch(), 'East', [2, 3]);
    const seats = await p.sectors.seats(sector.id);
    expect(seats.map(({ seatId }) => seatId)).toEqual(sector.seatIds);
    expect(seats.map(({ rowIndex, number }) => [rowIndex, number])).toEqual([
      ...[1, 2].map((number) => [0, number]),
      ...[1, 2, 3].map((number) => [1, number]),
    ]);
    expect(seats[3]).toMatchObject({ status: 'available', rank: 101 });
    expect(await p.sectors.seats(sector.seatIds[0] ?? '')).toEqual([]);
  });

  check('a seat is available, held or sold; the seat of an expired hold is available', async (p) => {
    const sector = await p.addSector(await p.addMatch(), 'East', [4]);
    const [held, sold, expired] = [0, 1, 2].map((seat) => p.addHold({ sector, seats: [seat] }));
    await held;
    const paid = await sold;
    await p.inTransaction((tx) => p.reservations.complete(tx, paid ? [paid] : []));
    await p.expire((await expired)?.id ?? '');
    const seats = await p.sectors.seats(sector.id);
    expect(seats.map(({ status }) => status)).toEqual(['held', 'sold', 'available', 'available']);
  });

  check('the counts of a sector name the earliest end of its living holds', async (p) => {
    const sector = await p.addSector(await p.addMatch(), 'East', [4]);
    const facts = { nextExpiryAt: null, othersHaveSeats: false };
    expect(await p.sectors.sectorState(sector.matchId, sector.id)).toMatchObject({ available: 4, held: 0, ...facts });
    const expired = await p.addHold({ sector, seats: [0] });
    await p.expire(expired.id);
    const living = await p.addHold({ sector, seats: [1, 2] });
    const state = await p.sectors.sectorState(sector.matchId, sector.id);
    expect(state).toMatchObject({ available: 2, held: 2, nextExpiryAt: living.expiresAt });
  });

  check('other sectors have seats if one of them is free, or its hold has expired; other matches do not count', async (p) => {
    const matchId = await p.addMatch();
    const [east, west] = [await p.addSector(matchId, 'East', [1]), await p.addSector(matchId, 'West', [1])];
    await p.addSector(await p.addMatch(), 'West', [1]);
    const othersHaveSeats = async () => (await p.sectors.sectorState(matchId, east.id)).othersHaveSeats;
    expect(await othersHaveSeats()).toBe(true);
    const hold = await p.addHold({ sector: west, seats: [0] });
    expect(await othersHaveSeats()).toBe(false);
    await p.expire(hold.id);
    expect(await othersHaveSeats()).toBe(true);
  });

  check('the sector of each seat is found; unknown seats and seats of other matches are missing', async (p) => {
    const matchId = await p.addMatch();
    const [east, west] = [await p.addSector(matchId, 'East', [1]), await p.addSector(matchId, 'West', [1])];
    const elsewhere = await p.addSector(await p.addMatch(), 'East', [1]);
    const seatIds = [east, west, elsewhere].map((sector) => sector.seatIds[0] ?? '');
    const found = await p.sectors.sectorsOf(matchId, [...seatIds, matchId]);
    expect(found).toEqual(new Map([east, west].map((sector) => [sector.seatIds[0], sector.id])));
  });
}
