import { contractTests, type PurchaseSetup } from './purchase-setup.ts';

/** The tests that every `StreamCursors` must pass. */
export function streamCursorsContract(open: () => PurchaseSetup): void {
  const check = contractTests(open);
  const advance = (p: PurchaseSetup, matchId: string, from: string, to: string) =>
    p.inTransaction((tx) => p.cursors.advance(tx, matchId, from, to));

  check('a cursor is moved only from the position where it is', async (p) => {
    const [matchId, other] = [await p.addMatch(), await p.addMatch()];
    const start = await p.cursors.position(matchId);
    expect(await advance(p, matchId, start, '7-0')).toBe(true);
    expect(await advance(p, matchId, start, '9-0')).toBe(false);
    expect(await p.cursors.position(matchId)).toBe('7-0');
    expect(await advance(p, matchId, '7-0', '9-0')).toBe(true);
    expect([await p.cursors.position(matchId), await p.cursors.position(other)]).toEqual(['9-0', start]);
  });

  check('a transaction that is rolled back does not move the cursor', async (p) => {
    const matchId = await p.addMatch();
    const start = await p.cursors.position(matchId);
    const rolledBack = p.inTransaction(async (tx) => {
      expect(await p.cursors.advance(tx, matchId, start, '7-0')).toBe(true);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    expect([await p.cursors.position(matchId), await advance(p, matchId, start, '7-0')]).toEqual([start, true]);
  });
}
