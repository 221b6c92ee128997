import { randomUUID } from 'node:crypto';
import { assertOneSlotPerMatch, clusterSlot } from './match-keys.ts';
import { ownerOfToken, newQueueToken, newSessionToken } from './queue-token.ts';
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
  test('a queue token knows its match and fan, is URL-safe, at most 100 characters, and never the same twice', () => {
    const [matchId, userId] = [randomUUID(), randomUUID()];
    const many = Array.from({ length: 1000 }, () => newQueueToken(matchId, userId));
    expect(new Set(many).size).toBe(1000);
    const [one, other] = many as [string, string];
    expect(one).toMatch(/^[\w-]{91}$/);
    expect(one).not.toBe(other);
    expect(ownerOfToken(one)).toEqual({ matchId, userId });
  });

  test.each([
    '',
    'qt_',
    'qt_short',
    `qt_${'a'.repeat(89)}`,
    `xx_${'a'.repeat(88)}`,
    `qt_${'a'.repeat(87)}!`,
    `qt_${'../'.repeat(29)}.`,
  ])('what was never issued is known without asking: %j', (token) => {
    expect(ownerOfToken(token)).toBeUndefined();
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

  test('a receipt is read back for its own fan and match only, and not when a character differs', () => {
    const [match, user] = [randomUUID(), randomUUID()];
    const receipts = new SignedReceipts('s'.repeat(32));
    const receipt = receipts.sign(match, user, '1763485000123456');
    expect(receipts.read(match, user, receipt)).toBe('1763485000123456');
    for (const [ofMatch, ofUser, text] of [
      [user, user, receipt],
      [match, match, receipt],
      [match, user, receipt.replace('1763', '1762')],
      [match, user, `${receipt.slice(0, -1)}${receipt.endsWith('A') ? 'E' : 'A'}`],
      [match, user, `${receipt}x`],
      [match, user, ''],
      [match, user, 'r1..'],
    ] as const)
      expect(receipts.read(ofMatch, ofUser, text)).toBeUndefined();
  });
});
