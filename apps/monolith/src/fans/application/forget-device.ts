import type { TransactionManager } from '#application/transaction-manager';
import type { Devices } from './ports.ts';

/** A device wants no pushes any more; one we do not know has what it wants. */
export class ForgetDevice {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly devices: Devices,
  ) {}

  async execute(device: { userId: string; deviceId: string }): Promise<void> {
    await this.transactions.run((tx) => this.devices.remove(tx, device));
  }
}
