import type { LiveFans } from './live-fans.ts';
import type { ConnectedPlaces } from './ports.ts';

const PARTED_AT_ONCE = 200;
const TOUCHED_AT_ONCE = 500;

/** Tells the line who is connected to this pod, and who is no more. Time is monotonic milliseconds, given by the caller. */
export class SignsOfLife {
  private readonly touchedAtMs = new Map<string, number>();
  /** Fans whose last connection to this pod has closed, by match. */
  private readonly parted = new Map<string, Set<string>>();

  constructor(
    private readonly places: ConnectedPlaces,
    private readonly live: LiveFans,
    private readonly presenceMs: number,
    /** What the ids of this pod's devices begin with. */
    private readonly pod: string,
  ) {}

  noteParted({ matchId, userId }: { matchId: string; userId: string }): void {
    const parted = this.parted.get(matchId) ?? new Set();
    this.parted.set(matchId, parted.add(userId));
  }

  /** Says which fans have no connection to this pod any more. Called some times a second: a pod loses thousands at once. */
  async sayParted(): Promise<void> {
    for (const [matchId, users] of [...this.parted]) {
      this.parted.delete(matchId);
      const gone = [...users].filter((userId) => this.live.ofUser(matchId, userId).length === 0);
      for (let from = 0; from < gone.length; from += PARTED_AT_ONCE) {
        await this.places.part(matchId, gone.slice(from, from + PARTED_AT_ONCE), this.pod);
      }
    }
  }

  /** Another pod has lost these fans; those who have a connection here are not away. */
  async reassure(matchId: string, userIds: readonly string[]): Promise<void> {
    const here = userIds.flatMap((userId) => this.live.ofUser(matchId, userId));
    await Promise.all(here.map((fan) => this.places.keep(fan, fan.devices.at(-1)?.id)));
  }

  /** Presence for everybody connected, three times within the time it lasts. */
  async touch(matchId: string, nowMs: number): Promise<void> {
    if (nowMs - (this.touchedAtMs.get(matchId) ?? -Infinity) < this.presenceMs / 3) return;
    this.touchedAtMs.set(matchId, nowMs);
    const users = this.live.ofMatch(matchId).map(({ userId }) => userId);
    for (let from = 0; from < users.length; from += TOUCHED_AT_ONCE) {
      await this.places.touch(matchId, users.slice(from, from + TOUCHED_AT_ONCE));
    }
    for (const known of this.touchedAtMs.keys()) if (!this.live.hasMatch(known)) this.touchedAtMs.delete(known);
  }
}
