import type { TransactionManager } from '#application/transaction-manager';
import type { Device, Devices } from './ports.ts';

/**
 * The most devices of one fan. A faulty app may invent a new device id at each start, and each push goes to all devices of the
 * fan.
 */
export const MAX_DEVICES = 20;

/** Registers a device of a fan for pushes. */
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
