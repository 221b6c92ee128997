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
    queueKeys.joinsByAddress(matchId),
  ];
}
