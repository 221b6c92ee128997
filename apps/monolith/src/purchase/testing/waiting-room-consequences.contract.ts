import { randomUUID } from 'node:crypto';
import type { WaitingRoomEvent } from '../turns/application/waiting-room-ports.ts';
import { contractTests, type PurchaseSetup, type Turn } from './purchase-setup.ts';

/** The tests that every `WaitingRoomConsequences` must pass. Each fan has a device. */
export function waitingRoomConsequencesContract(open: () => PurchaseSetup): void {
  const check = contractTests(open);

  const newTurn = async (p: PurchaseSetup, change: Partial<Turn> = {}): Promise<Turn> => {
    const turn = { matchId: await p.addMatch({ queueRequired: true }), userId: randomUUID(), ...change };
    await p.addDevice(turn.userId);
    return { sessionToken: `st_${randomUUID()}`, ...turn };
  };
  const granted = (turn: Turn): WaitingRoomEvent => ({
    ...{ kind: 'turn granted', ...turn, expiresAt: new Date(Date.UTC(2100, 0)).toISOString() },
    ...{ generation: undefined, placeScore: undefined },
  });
  const ended = (turn: Omit<Turn, 'sessionToken'>, sessionToken: string | undefined, reason = 'left'): WaitingRoomEvent => ({
    ...{ kind: 'turn ended', matchId: turn.matchId, userId: turn.userId, sessionToken, reason },
  });
  const apply = (p: PurchaseSetup, ...events: WaitingRoomEvent[]) =>
    p.inTransaction((tx) => p.waitingRoomConsequences.apply(tx, events));

  check('a granted turn is stored, and its fan gets one push', async (p) => {
    const [first, second] = [await newTurn(p), await newTurn(p)];
    await apply(p, granted(first), granted(second));
    for (const turn of [first, second]) {
      expect(await p.turn(turn.sessionToken)).toEqual({ endReason: null });
      expect(await p.turnPushes(turn)).toBe(1);
    }
  });

  check('the event of a turn that is stored already changes the turn no more', async (p) => {
    const turn = await newTurn(p);
    await p.storeTurn(turn, { endReason: 'completed' });
    await apply(p, granted(turn));
    expect(await p.turn(turn.sessionToken)).toEqual({ endReason: 'completed' });
  });

  check('a turn ends with the reason of the first event that ends it', async (p) => {
    const turn = await newTurn(p);
    await apply(p, granted(turn), ended(turn, turn.sessionToken, 'left'), ended(turn, turn.sessionToken, 'window_timeout'));
    expect(await p.turn(turn.sessionToken)).toEqual({ endReason: 'left' });
  });

  check('an event with a session token ends only this turn, and only if it is the turn of that fan', async (p) => {
    const first = await newTurn(p);
    const stranger = await newTurn(p, { matchId: first.matchId });
    const second = await newTurn(p, first);
    const later = { ...second, sessionToken: `st_${randomUUID()}` };
    await apply(p, granted(first), granted(later), granted(stranger));
    await apply(p, ended(first, first.sessionToken), ended(first, stranger.sessionToken));
    expect(await p.turn(first.sessionToken)).toEqual({ endReason: 'left' });
    for (const { sessionToken } of [later, stranger]) expect(await p.turn(sessionToken)).toEqual({ endReason: null });
  });

  check('an event without a session token ends all turns of the fan for this match', async (p) => {
    const first = await newTurn(p);
    const [second, elsewhere] = [
      { ...first, sessionToken: `st_${randomUUID()}` },
      await newTurn(p, { userId: first.userId, matchId: await p.addMatch() }),
    ];
    await apply(p, granted(first), granted(second), granted(elsewhere));
    await apply(p, ended(first, undefined));
    for (const { sessionToken } of [first, second]) expect(await p.turn(sessionToken)).toEqual({ endReason: 'left' });
    expect(await p.turn(elsewhere.sessionToken)).toEqual({ endReason: null });
  });
}
