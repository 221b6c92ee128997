// A notification worker in its own process, which tests can kill and freeze. It uses the production code for the queue, the ledger of
// sends, the rate limiter and the providers. It reads its settings as JSON from WORKER_SETTINGS and prints `ready` when it takes jobs. On
// SIGTERM it drains and prints `doubts <n>`, the number of sends that may be duplicates.
import { SharedProviderLimiter } from '#messaging/sending/provider-limiter';
import { Mailgun, type MailgunOptions } from '../../apps/notification-worker/src/email/outbound/mailgun.ts';
import { PushProvider, type DeviceResult, type OutgoingPush } from '../../apps/notification-worker/src/push/application/ports.ts';
import type { ServiceAccount } from '../../apps/notification-worker/src/push/outbound/fcm-access.ts';
import { Fcm } from '../../apps/notification-worker/src/push/outbound/fcm.ts';
import { bareWorker } from '../../apps/notification-worker/src/testing/bare-worker.ts';

/** The addresses of the servers and providers that the worker process uses. */
export interface WorkerProcessSettings {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly mailgun: MailgunOptions;
  readonly fcm: { readonly base: string; readonly account: ServiceAccount };
}

/** A push to the token `deadly` kills the worker process, like a bug or a message that exhausts memory. */
class DeadlyFcm extends PushProvider {
  private readonly fcm: Fcm;
  constructor(options: WorkerProcessSettings['fcm']) {
    super();
    this.fcm = new Fcm(options);
  }
  send(push: OutgoingPush): Promise<readonly DeviceResult[]> {
    if (push.tokens.includes('deadly')) process.kill(process.pid, 'SIGKILL');
    return this.fcm.send(push);
  }
}

const settings = JSON.parse(process.env.WORKER_SETTINGS ?? '{}') as WorkerProcessSettings;
const worker = await bareWorker({
  databaseUrl: settings.databaseUrl,
  redisUrl: settings.redisUrl,
  mails: new Mailgun(settings.mailgun),
  pushes: new DeadlyFcm(settings.fcm),
  limiter: (redis) => new SharedProviderLimiter(redis, { provider: 'faults', callsPerSecond: 1000, onBreaker: () => undefined }),
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
// If Jest dies, stdin closes and this process exits too.
process.stdin.resume().once('end', () => process.exit(1));
