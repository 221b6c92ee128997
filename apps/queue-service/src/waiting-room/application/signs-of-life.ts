import type { LiveFan, LiveFans } from './live-fans.ts';
import type { ConnectedFans, FanDevice } from './ports.ts';

const PARTED_AT_ONCE = 200;
const TOUCHED_AT_ONCE = 500;
const KEPT_AT_ONCE = 200;

/** Tells the line who is connected to this pod, and who is no more. Time is monotonic milliseconds, given by the caller. */
export class SignsOfLife {
  private readonly touchedAtMs = new Map<string, number>();
  /** Connections that have closed, by match. While Redis is away nobody connects, so they are no more than were open. */
  private readonly parted = new Map<string, FanDevice[]>();

  constructor(
    private readonly entries: ConnectedFans,
    private readonly live: LiveFans,
    private readonly settings: { readonly presenceMs: number; readonly persistenceMs: number },
  ) {}

  noteParted({ matchId, userId }: { matchId: string; userId: string }, websocketId: string): void {
    const parted = this.parted.get(matchId);
    if (parted) parted.push({ userId, websocketId });
    else this.parted.set(matchId, [{ userId, websocketId }]);
  }

  /** Says which connections have closed, until it is heard. Called some times a second: a pod loses thousands at once. */
  async sayParted(): Promise<void> {
    for (const [matchId, devices] of [...this.parted]) {
      this.parted.delete(matchId);
      let said = 0;
      try {
        for (; said < devices.length; said += PARTED_AT_ONCE) {
          await this.entries.part(matchId, devices.slice(said, said + PARTED_AT_ONCE));
        }
      } catch (error) {
        for (const device of devices.slice(said)) this.noteParted({ matchId, ...device }, device.websocketId);
        throw error;
      }
    }
  }

  /** Another pod has lost these fans; those who have a connection here are not away. */
  async reassure(matchId: string, userIds: readonly string[]): Promise<void> {
    const here = userIds.flatMap((userId) => this.live.ofUser(matchId, userId));
    await Promise.all(
      here.map((fan) =>
        this.entries.keep(
          fan,
          fan.devices.map(({ id }) => id),
        ),
      ),
    );
  }

  /** Keeps session and token of these fans alive, three times within the time they last. Returns those whose token is not theirs any more. */
  async keepAlive(fans: readonly LiveFan[], nowMs: number): Promise<LiveFan[]> {
    const due = fans.filter((fan) => fan.devices.length > 0 && nowMs - fan.keptAtMs >= this.settings.persistenceMs / 3);
    const over: LiveFan[] = [];
    for (let from = 0; from < due.length; from += KEPT_AT_ONCE) {
      await Promise.all(
        due.slice(from, from + KEPT_AT_ONCE).map(async (fan) => {
          fan.keptAtMs = nowMs;
          const ids = fan.devices.map(({ id }) => id);
          if (!(await this.entries.keep(fan, ids))) over.push(fan);
        }),
      );
    }
    return over;
  }

  /** Presence for everybody connected, three times within the time it lasts. */
  async touch(matchId: string, nowMs: number): Promise<void> {
    if (nowMs - (this.touchedAtMs.get(matchId) ?? -Infinity) < this.settings.presenceMs / 3) return;
    this.touchedAtMs.set(matchId, nowMs);
    const users = this.live.ofMatch(matchId).map(({ userId }) => userId);
    for (let from = 0; from < users.length; from += TOUCHED_AT_ONCE) {
      await this.entries.touch(matchId, users.slice(from, from + TOUCHED_AT_ONCE));
    }
    for (const known of this.touchedAtMs.keys()) if (!this.live.hasMatch(known)) this.touchedAtMs.delete(known);
  }
}
