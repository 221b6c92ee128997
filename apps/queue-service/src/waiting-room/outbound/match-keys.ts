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

/** The cluster slot of a key: CRC16 (XMODEM polynomial) of its hash tag, modulo 16,384. */
export function clusterSlot(key: string): number {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff) >>> 0;
  }
  return crc % 16_384;
}

/**
 * Throws unless all keys of a match are in one cluster slot; only then can a script change a match atomically. Runs at every start,
 * with two match ids, so that a key without the hash tag cannot pass by chance.
 */
export function assertOneSlotPerMatch(keysOf: (matchId: string) => readonly string[] = allKeysOf): void {
  for (const matchId of ['0198f0a0-0000-7000-8000-000000000001', '0198f0a0-0000-7000-8000-000000000002']) {
    const keys = keysOf(matchId);
    const slots = new Set(keys.map(clusterSlot));
    if (slots.size > 1) throw new Error(`The keys of one match lie in ${slots.size} cluster slots: ${keys.join(', ')}`);
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
