import { randomUUID } from 'node:crypto';
import { assertOneSlotPerMatch, clusterSlot } from './match-keys.ts';
import { matchOfToken, newQueueToken, newSessionToken } from './queue-token.ts';
import { SignedReceipts } from './signed-receipts.ts';

describe('cluster slots', () => {
  test.each([
    ['123456789', 12_739],
    ['foo', 12_182],
    ['{user1000}.following', clusterSlot('user1000')],
    ['foo{}{bar}', 8363],
  ])('%s lies in %i', (key, slot) => {
    expect(clusterSlot(key)).toBe(slot);
  });

  test('the keys of one match share one slot; a key without the tag stops the start', () => {
    expect(() => assertOneSlotPerMatch()).not.toThrow();
    expect(() => assertOneSlotPerMatch((matchId) => [`queue:{${matchId}}`, `queue_session:{user}:${matchId}`])).toThrow(
      /2 cluster slots/,
    );
  });
});

describe('tokens', () => {
  test('a queue token knows its match, is URL-safe and never the same twice', () => {
    const matchId = randomUUID();
    const [one, other] = [newQueueToken(matchId), newQueueToken(matchId)];
    expect(one).toMatch(/^[\w-]{46}$/);
    expect(one).not.toBe(other);
    expect(matchOfToken(one)).toBe(matchId);
  });

  test.each([
    '',
    'qt_',
    'qt_short',
    `qt_${'a'.repeat(44)}`,
    `xx_${'a'.repeat(43)}`,
    `qt_${'a'.repeat(42)}!`,
    'qt_../../../../../../../../../../../../../../',
  ])('what was never issued is known without asking: %j', (token) => {
    expect(matchOfToken(token)).toBeUndefined();
  });

  test('a session token carries 32 random bytes', () => {
    expect(newSessionToken()).toMatch(/^st_[\w-]{43}$/);
  });

  test('a receipt differs by fan, match, score and secret', () => {
    const [match, user] = [randomUUID(), randomUUID()];
    const receipts = new SignedReceipts('s'.repeat(32));
    const all = [
      receipts.sign(match, user, '1'),
      receipts.sign(user, match, '1'),
      receipts.sign(match, user, '2'),
      new SignedReceipts('t'.repeat(32)).sign(match, user, '1'),
    ];
    expect(new Set(all).size).toBe(4);
    expect(receipts.sign(match, user, '1')).toBe(all[0]);
  });
});
