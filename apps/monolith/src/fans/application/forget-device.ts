import type { TransactionManager } from '#application/transaction-manager';
import type { Devices } from './ports.ts';

/** Deletes a device, so that it gets no more pushes. Does nothing if the device is unknown. */
export class ForgetDevice {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly devices: Devices,
  ) {}

  async execute(device: { userId: string; deviceId: string }): Promise<void> {
    await this.transactions.run((tx) => this.devices.remove(tx, device));
  }
}
