import { lockTimeout } from '#platform/postgres/serializable';
import { PlacesNotFree } from '../../purchase/quota-places.api.ts';

/** Enough for a busy sale: each attempt fails only if one of the chosen places is taken within milliseconds. */
const MAX_ATTEMPTS = 10;

/**
 * Chooses free places and then takes them in a transaction. `choose` reads the free places outside the transaction, because such a
 * read would conflict with every buyer. If somebody was faster, other places are chosen.
 */
export async function withFreePlaces<C, T>(choose: () => Promise<C>, take: (chosen: C) => Promise<T>): Promise<T> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    try {
      return await take(await choose());
    } catch (error) {
      if (!(error instanceof PlacesNotFree)) throw error;
    }
  }
  throw lockTimeout();
}
