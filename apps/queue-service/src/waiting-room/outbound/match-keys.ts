import { queueKeys } from '#contracts/queue-keys';

/** The argument KEYS of every script: all keys of one match, in the order of parts/match-keys.lua. */
export function matchKeys(matchId: string): string[] {
  return [
    queueKeys.line(matchId),
    queueKeys.meta(matchId),
    queueKeys.windows(matchId),
    queueKeys.windowEnds(matchId),
    queueKeys.events(matchId),
    queueKeys.closingLine(matchId),
    queueKeys.closingWindows(matchId),
    queueKeys.closingWindowEnds(matchId),
    queueKeys.seen(matchId),
    queueKeys.gone(matchId),
    queueKeys.away(matchId),
    queueKeys.back(matchId),
    queueKeys.called(matchId),
    queueKeys.used(matchId),
    queueKeys.moves(matchId),
    queueKeys.audit(matchId),
    queueKeys.podBeats(matchId),
    queueKeys.replaced(matchId),
    queueKeys.restored(matchId),
  ];
}

/**
 * The part of a key that decides its cluster slot: the text in its first pair of braces, or the whole key if there is none or it
 * is empty.
 */
export function hashTagOf(key: string): string {
  return /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key;
}

/**
 * Throws unless all keys of a match have the same hash tag. They are then in one cluster slot; only then can a script change a
 * match atomically. Runs at every start, with two match ids, so that a key without the hash tag cannot pass by chance.
 */
export function assertOneSlotPerMatch(keysOf: (matchId: string) => readonly string[] = allKeysOf): void {
  for (const matchId of ['0198f0a0-0000-7000-8000-000000000001', '0198f0a0-0000-7000-8000-000000000002']) {
    const keys = keysOf(matchId);
    const tags = new Set(keys.map(hashTagOf));
    if (tags.size > 1) throw new Error(`The keys of one match have ${tags.size} hash tags: ${keys.join(', ')}`);
  }
}

function allKeysOf(matchId: string): string[] {
  const userId = '0198f0a0-0000-7000-8000-0000000000aa';
  return [
    ...matchKeys(matchId),
    queueKeys.session(userId, matchId),
    queueKeys.ended(userId, matchId),
    queueKeys.token('qt_x', matchId),
  ];
}
