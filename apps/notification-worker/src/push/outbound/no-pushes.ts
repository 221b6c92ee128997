import { Pushes, type SendOutcome } from '../application/ports.ts';

/**
 * PUSH_PROVIDER=none: sends nothing. The monolith makes no pushes with this setting. What was queued before is completed, so that the
 * queues become empty and no job waits for a provider that does not exist.
 */
export class NoPushes extends Pushes {
  send(): Promise<SendOutcome> {
    return Promise.resolve({ outcome: 'not sent: no provider' });
  }
}
