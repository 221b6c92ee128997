// A notification worker as a process of its own, for being killed and frozen: queue, ledger, gate and providers as in the service.
// Settings come as JSON in WORKER_SETTINGS; `ready` on stdout when it takes jobs; on SIGTERM it drains and prints its count of
// possible duplicates.
import { SharedProviderLimiter } from '#platform/sending/provider-limiter';
import { Mailgun, type MailgunOptions } from '../../apps/notification-worker/src/email/outbound/mailgun.ts';
import { PushProvider, type DeviceResult, type OutgoingPush } from '../../apps/notification-worker/src/push/application/ports.ts';
import type { ServiceAccount } from '../../apps/notification-worker/src/push/outbound/fcm-access.ts';
import { Fcm } from '../../apps/notification-worker/src/push/outbound/fcm.ts';
import { bareWorker } from '../../apps/notification-worker/src/testing/bare-worker.ts';

export interface ProcessSettings {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly mailgun: MailgunOptions;
  readonly fcm: { readonly base: string; readonly account: ServiceAccount };
}

/** A device that takes its worker down: what a bug, or a message that exhausts memory, would do. */
class DeadlyFcm extends PushProvider {
  private readonly fcm: Fcm;
  constructor(options: ProcessSettings['fcm']) {
    super();
    this.fcm = new Fcm(options);
  }
  send(push: OutgoingPush): Promise<readonly DeviceResult[]> {
    if (push.tokens.includes('deadly')) process.kill(process.pid, 'SIGKILL');
    return this.fcm.send(push);
  }
}

const settings = JSON.parse(process.env.WORKER_SETTINGS ?? '{}') as ProcessSettings;
const worker = await bareWorker({
  databaseUrl: settings.databaseUrl,
  redisUrl: settings.redisUrl,
  mails: new Mailgun(settings.mailgun),
  pushes: new DeadlyFcm(settings.fcm),
  gate: (redis) => new SharedProviderLimiter(redis, { provider: 'faults', callsPerSecond: 1000, onBreaker: () => undefined }),
  retrySeconds: [1, 1],
});
worker.start();
process.stdout.write('ready\n');
process.once('SIGTERM', () => {
  void worker.close().then(() => {
    process.stdout.write(`doubts ${worker.possibleDuplicates()}\n`);
    process.exit(0);
  });
});
// A jest that died leaves no worker behind.
process.stdin.resume().once('end', () => process.exit(1));
