import { Gauge, type Registry } from 'prom-client';
import type { Broadcasts } from '../application/ports.ts';

/** Registers the gauge of the newest broadcasts' progress: `notification_broadcast_devices{broadcast,template,state}`. */
export function registerBroadcastMetrics(registry: Registry, broadcasts: Pick<Broadcasts, 'progress'>): void {
  new Gauge({
    name: 'notification_broadcast_devices',
    help: 'Devices of the newest broadcasts: waiting, delivered, dead (token removed) or refused by the provider.',
    labelNames: ['broadcast', 'template', 'state'],
    registers: [registry],
    async collect() {
      const all = await broadcasts.progress().catch(() => undefined);
      if (!all) return;
      this.reset();
      for (const { id: broadcast, template, devices, done, dead, refused } of all) {
        const states = { waiting: devices - done, delivered: done - dead - refused, dead, refused };
        for (const [state, count] of Object.entries(states)) this.set({ broadcast, template, state }, count);
      }
    },
  });
}
