import { contractTests, type PurchaseSetup, type Turn } from './purchase-setup.ts';

/** The tests that every `WaitingRoomEvents` must pass. */
export function waitingRoomEventsContract(open: () => PurchaseSetup): void {
  const check = contractTests(open);

  const newTurns = async (p: PurchaseSetup): Promise<Turn[]> => {
    const sector = await p.addSector(await p.addMatch({ queueRequired: true }), 'East', [3]);
    const holds = [0, 1, 2].map((seat) => p.addHold({ sector, seats: [seat] }));
    return (await Promise.all(holds)).map(({ matchId, userId }) => ({ matchId, userId, sessionToken: `st_${userId}` }));
  };

  check('the events of a match are read after the stored position, the oldest first', async (p) => {
    const [first, second, third] = (await newTurns(p)) as [Turn, Turn, Turn];
    const { matchId } = first;
    await p.grantTurn(first);
    await p.grantTurn(second);
    await p.endTurn(first, 'left');
    const start = await p.cursors.position(matchId);
    const page = await p.waitingRoom.readAfter(matchId, start, 2);
    const granted = { kind: 'turn granted', expiresAt: expect.stringMatching(/^\d{4}-.*Z$/) };
    expect(page.events).toMatchObject([
      { ...granted, ...first },
      { ...granted, ...second },
    ]);
    const rest = await p.waitingRoom.readAfter(matchId, page.lastId, 2);
    expect(rest.events).toEqual([{ kind: 'turn ended', ...first, reason: 'left' }]);
    expect(await p.waitingRoom.readAfter(matchId, rest.lastId, 2)).toEqual({ events: [], lastId: rest.lastId });
    await p.grantTurn(third);
    expect((await p.waitingRoom.readAfter(matchId, rest.lastId, 2)).events).toMatchObject([{ ...granted, ...third }]);
  });

  check('each match has a stream of its own', async (p) => {
    const [[here], [there]] = [(await newTurns(p)) as [Turn], (await newTurns(p)) as [Turn]];
    await p.grantTurn(here);
    const position = await p.cursors.position(there.matchId);
    expect(await p.waitingRoom.hasAfter(there.matchId, position)).toBe(false);
    expect(await p.waitingRoom.readAfter(there.matchId, position, 10)).toEqual({ events: [], lastId: position });
    await p.grantTurn(there);
    expect(await p.waitingRoom.matches()).toEqual(expect.arrayContaining([here.matchId, there.matchId]));
    expect((await p.waitingRoom.readAfter(here.matchId, position, 10)).events).toMatchObject([here]);
  });

  check('hasAfter says whether there are events after a position', async (p) => {
    const [turn] = (await newTurns(p)) as [Turn];
    const { matchId } = turn;
    const start = await p.cursors.position(matchId);
    await p.grantTurn(turn);
    const { lastId } = await p.waitingRoom.readAfter(matchId, start, 10);
    const has = async (position: string) => p.waitingRoom.hasAfter(matchId, position);
    // FollowWaitingRoom begins at 0-0.
    expect([await has(start), await has('0-0'), await has(lastId)]).toEqual([true, true, false]);
  });
}
