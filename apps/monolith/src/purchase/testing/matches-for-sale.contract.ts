import { contractTests, type PurchaseSetup } from './purchase-setup.ts';

/** The tests that every `MatchesForSale` must pass. */
export function matchesForSaleContract(open: () => PurchaseSetup): void {
  const check = contractTests(open);

  check('a match is found with its rules, outside and inside of a transaction', async (p) => {
    const facts = { saleStatus: 'paused', queueRequired: true, maxTicketsPerFan: 3 } as const;
    const [id, other] = [await p.addMatch(facts), await p.addMatch({ saleStatus: 'closed' })];
    expect(await p.matches.match(id)).toMatchObject({ id, ...facts, opensAt: null });
    await p.inTransaction(async (tx) => {
      expect(await p.matches.match(id, tx)).toMatchObject({ id, ...facts });
      expect(await p.matches.match(other, tx)).toMatchObject({ id: other, saleStatus: 'closed' });
    });
  });

  check('a sector is found with its price and the currency of its match', async (p) => {
    const [matchId, otherMatchId] = [await p.addMatch(), await p.addMatch()];
    const [east, west] = [await p.addSector(matchId, 'East', [2]), await p.addSector(matchId, 'West', [1])];
    await p.addSector(otherMatchId, 'East', [1]);
    const found = await p.matches.sectors(matchId);
    expect({ ...(await p.matches.sector(east.id)), seatIds: east.seatIds }).toMatchObject(east);
    expect(found.map((sector, index) => ({ ...sector, seatIds: [east, west][index]?.seatIds }))).toMatchObject([east, west]);
  });

  check('an unknown match and an unknown sector are not found', async (p) => {
    const unknown = (await p.addSector(await p.addMatch(), 'East', [1])).seatIds[0] ?? '';
    expect([await p.matches.match(unknown), await p.matches.sector(unknown)]).toEqual([undefined, undefined]);
    expect(await p.matches.sectors(unknown)).toEqual([]);
    expect(await p.inTransaction((tx) => p.matches.match(unknown, tx))).toBeUndefined();
  });
}
