import type { AlertChannel } from '#domain/notification/alert-operators';
import type { z } from 'zod';
import type { notificationSettings } from './settings.ts';

/** The channels on which operators receive alerts: a webhook, mail, both or none. */
export function alertChannels(
  config: Pick<z.output<typeof notificationSettings>, 'ALERT_WEBHOOK_URL' | 'ALERT_EMAIL'>,
): AlertChannel[] {
  return [
    ...(config.ALERT_WEBHOOK_URL ? (['webhook'] as const) : []),
    ...(config.ALERT_EMAIL.length > 0 ? (['mail'] as const) : []),
  ];
}
