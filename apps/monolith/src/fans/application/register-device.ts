import type { TransactionManager } from '#application/transaction-manager';
import type { Device, Devices } from './ports.ts';

/** More is a fault of an app that makes up a new id each start; pushes go to every one of them. */
export const MAX_DEVICES = 20;

/** A device of a fan wants pushes. */
export class RegisterDevice {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly devices: Devices,
  ) {}

  async execute(device: Device): Promise<void> {
    await this.transactions.run(async (tx) => {
      await this.devices.put(tx, device);
      await this.devices.keepNewest(tx, device.userId, MAX_DEVICES);
    });
  }
}
