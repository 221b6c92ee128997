import { randomUUID } from 'node:crypto';
import { queueKeys } from '#contracts/queue-keys';
import { matchKeys } from './match-keys.ts';
import { ownerOfToken, newQueueToken, newSessionToken } from './queue-token.ts';
import { SignedReceipts } from './signed-receipts.ts';

/**
 * The part of a key that decides its cluster slot: the text in its first pair of braces, or the whole key if there is none or it
 * is empty.
 */
function hashTagOf(key: string): string {
  return /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key;
}

describe('cluster slots', () => {
  test.each([
    ['foo', 'foo'],
    ['{user1000}.following', 'user1000'],
    ['foo{bar}{zap}', 'bar'],
    ['foo{{bar}}zap', '{bar'],
    ['foo{}{bar}', 'foo{}{bar}'],
    ['foo{bar', 'foo{bar'],
  ])('the hash tag of %s is %s', (key, tag) => {
    expect(hashTagOf(key)).toBe(tag);
  });

  // A script can change a match atomically only if all keys of the match are in one slot.
  test.each([randomUUID(), randomUUID()])(
    'all keys of the match %s have the same hash tag, so they are in one slot',
    (matchId) => {
      const userId = randomUUID();
      const ofFan = [queueKeys.session(userId, matchId), queueKeys.ended(userId, matchId), queueKeys.token('qt_x', matchId)];
      expect(new Set([...matchKeys(matchId), ...ofFan].map(hashTagOf))).toEqual(new Set([matchId]));
      expect(new Set([...ofFan, `queue_session:{${userId}}:${matchId}`].map(hashTagOf)).size).toBe(2);
    },
  );
});

describe('tokens and receipts', () => {
  test('a queue token contains the ids of match and fan, is URL-safe, has at most 100 characters, and is unique', () => {
    const [matchId, userId] = [randomUUID(), randomUUID()];
    const many = Array.from({ length: 1000 }, () => newQueueToken(matchId, userId));
    expect(new Set(many).size).toBe(1000);
    const [first, second] = many as [string, string];
    expect(first).toMatch(/^[\w-]{91}$/);
    expect(first).not.toBe(second);
    expect(ownerOfToken(first)).toEqual({ matchId, userId });
  });

  test.each([
    '',
    'qt_',
    'qt_short',
    `qt_${'a'.repeat(89)}`,
    `xx_${'a'.repeat(88)}`,
    `qt_${'a'.repeat(87)}!`,
    `qt_${'../'.repeat(29)}.`,
  ])('ownerOfToken returns undefined for a text that is not a token: %j', (token) => {
    expect(ownerOfToken(token)).toBeUndefined();
  });

  test('a session token has 32 random bytes', () => {
    expect(newSessionToken()).toMatch(/^st_[\w-]{43}$/);
  });

  test('the receipts for different fans, matches, scores or secrets differ', () => {
    const [match, user] = [randomUUID(), randomUUID()];
    const receipts = new SignedReceipts(['s'.repeat(32)]);
    const all = [
      receipts.sign(match, user, '1'),
      receipts.sign(user, match, '1'),
      receipts.sign(match, user, '2'),
      new SignedReceipts(['t'.repeat(32)]).sign(match, user, '1'),
    ];
    expect(new Set(all).size).toBe(4);
    expect(receipts.sign(match, user, '1')).toBe(all[0]);
  });

  test('a receipt is valid only for its own fan and match, and only if no character was changed', () => {
    const [match, user] = [randomUUID(), randomUUID()];
    const receipts = new SignedReceipts(['s'.repeat(32)]);
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
