import { queueKeys } from '#contracts/queue-keys';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { z } from 'zod';

const grantedTurn = z
  .object({
    session_token: z.string(),
    expires_at: z.iso.datetime(),
    generation: z.int().optional(),
    place_score: z.int().optional(),
  })
  .transform((turn) => ({
    sessionToken: turn.session_token,
    expiresAt: turn.expires_at,
    generation: turn.generation,
    placeScore: turn.place_score,
  }));

/** A turn as the waiting room has granted it. */
export type GrantedTurn = Readonly<z.output<typeof grantedTurn>>;

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
    return grantedTurn.safeParse(asJson(text ?? '')).data;
  }
}
