import { queueKeys } from '#contracts/queue-keys';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { z } from 'zod';

const window = z.object({
  expires_at: z.iso.datetime(),
  session_token: z.string(),
  generation: z.int().optional(),
  place_score: z.int().optional(),
});

/** A turn as the waiting room has granted it. */
export interface GrantedTurn {
  readonly sessionToken: string;
  readonly expiresAt: string;
  readonly generation: number | undefined;
  readonly placeScore: number | undefined;
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads granted turns from the hash in Redis in which the waiting room keeps them. Never writes to it. */
export class GrantedTurns {
  constructor(private readonly redis: RedisConnection) {}

  /** The fan's turn, or undefined. Rejects if Redis does not answer: then the caller must not treat the turn as invalid. */
  async of(matchId: string, userId: string): Promise<GrantedTurn | undefined> {
    const text = await this.redis.hget(queueKeys.windows(matchId), userId);
    const parsed = text ? window.safeParse(asJson(text)) : undefined;
    if (!parsed?.success) return undefined;
    const { session_token: sessionToken, expires_at: expiresAt, generation, place_score: placeScore } = parsed.data;
    return { sessionToken, expiresAt, generation, placeScore };
  }
}
