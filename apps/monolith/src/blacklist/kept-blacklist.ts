import type { KeptAboutFans } from '../fans/kept-about-fans.api.ts';
import type { PostgresBlacklist } from './postgres-blacklist.ts';

/** Adds the blacklist to the export of a fan: that the fan is or was on it, and when. The reason and the operator are not told. */
export class KeptBlacklist {
  constructor(kept: KeptAboutFans, blacklist: PostgresBlacklist) {
    kept.add('blacklist', async function* ({ userId }) {
      const { changes } = await blacklist.find(userId);
      yield changes.map(({ action, at, until }) => ({ action, at: at.toISOString(), until: until?.toISOString() ?? null }));
    });
  }
}
