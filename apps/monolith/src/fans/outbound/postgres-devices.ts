import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { Devices, type Device } from '../application/ports.ts';

export class PostgresDevices extends Devices {
  async put(tx: Transaction, { userId, deviceId, fcmToken }: Device): Promise<void> {
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
  }

  async keepNewest(tx: Transaction, userId: string, count: number): Promise<void> {
    await inside(tx).rows(
      `delete from devices where user_id = $1
         and device_id in (select device_id from devices where user_id = $1 order by updated_at desc, device_id offset $2)`,
      [userId, count],
    );
  }

  async remove(tx: Transaction, { userId, deviceId }: { userId: string; deviceId: string }): Promise<void> {
    await inside(tx).rows(`delete from devices where user_id = $1 and device_id = $2`, [userId, deviceId]);
  }
}
