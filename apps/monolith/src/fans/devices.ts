import type { TransactionManager } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';

/**
 * The most devices of one fan. A faulty app may invent a new device id at each start, and each push goes to all devices of the
 * fan.
 */
export const MAX_DEVICES = 20;

/** The devices that fans registered for pushes. */
export class Devices {
  constructor(private readonly transactions: TransactionManager) {}

  /**
   * Adds or updates the device with its token at Firebase (FCM). Deletes another device that has the same token, and the devices
   * of the fan above MAX_DEVICES that registered longest ago.
   */
  register({ userId, deviceId, fcmToken }: { userId: string; deviceId: string; fcmToken: string }): Promise<void> {
    return this.transactions.run(async (tx) => {
      const postgres = inside(tx);
      await postgres.rows(`delete from devices where fcm_token = $3 and (user_id, device_id) <> ($1, $2)`, [
        userId,
        deviceId,
        fcmToken,
      ]);
      await postgres.rows(
        `insert into devices (user_id, device_id, fcm_token) values ($1, $2, $3)
         on conflict (user_id, device_id) do update set fcm_token = excluded.fcm_token, updated_at = clock_timestamp()`,
        [userId, deviceId, fcmToken],
      );
      await postgres.rows(
        `delete from devices where user_id = $1
           and device_id in (select device_id from devices where user_id = $1 order by updated_at desc, device_id offset $2)`,
        [userId, MAX_DEVICES],
      );
    });
  }

  /** The devices of the fan, without their tokens: with a token and our key for FCM anybody can send pushes. */
  list(userId: string): Promise<{ device_id: string; updated_at: string }[]> {
    return this.transactions.run(async (tx) => {
      const rows = await inside(tx).rows<{ device_id: string; updated_at: Date }>(
        `select device_id, updated_at from devices where user_id = $1 order by device_id`,
        [userId],
      );
      return rows.map(({ device_id, updated_at }) => ({ device_id, updated_at: updated_at.toISOString() }));
    });
  }

  /** Deletes the device, so that it gets no more pushes. Does nothing if the device is unknown. */
  forget({ userId, deviceId }: { userId: string; deviceId: string }): Promise<void> {
    return this.transactions.run(async (tx) => {
      await inside(tx).rows(`delete from devices where user_id = $1 and device_id = $2`, [userId, deviceId]);
    });
  }
}
