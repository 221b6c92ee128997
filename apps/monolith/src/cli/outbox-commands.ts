import type { Command } from 'commander';
import { RelayApi } from '../relay/relay.api.ts';
import { errorText, print, stopSignal, wholeNumber } from './environment.ts';
import { withApi } from './monolith-context.ts';

const IDLE_WAIT_MS = 100;

interface ConsumeOptions {
  readonly limit: number;
  readonly timeLimit: number;
  readonly untilEmpty?: boolean;
  readonly force?: boolean;
}

/** Adds the command `outbox:consume`. */
export function addOutboxCommands(program: Command): void {
  program
    .command('outbox:consume')
    .description('deliver outbox messages, in parallel with the services')
    .option('--limit <n>', 'stop after this many messages', wholeNumber(1, 1_000_000), 1000)
    .option('--time-limit <seconds>', 'stop after this many seconds', wholeNumber(1, 86_400), 55)
    .option('--until-empty', 'stop as soon as no message is waiting')
    .option(
      '--force',
      'also deliver mails and pushes older than 7 days, which would be parked otherwise; never those that were delivered before',
    )
    .action(async (options: ConsumeOptions) => {
      print(`relayed ${await withApi(RelayApi, (relay) => consume(relay, options))} message(s)`);
    });
}

/**
 * Delivers one batch of each destination after the other, again and again, until `limit` messages were delivered in total or
 * `timeLimit` seconds have passed; with `untilEmpty` also after a pass over all destinations that delivered nothing. SIGTERM and
 * SIGINT stop it after the current batch. Returns the number of messages.
 */
async function consume({ relays }: RelayApi, { limit, timeLimit, untilEmpty, force }: ConsumeOptions): Promise<number> {
  const stop = stopSignal();
  const endAt = Date.now() + timeLimit * 1000;
  let total = 0;
  while (!stop.aborted && total < limit && Date.now() < endAt) {
    let relayed = 0;
    for (const relay of relays) {
      if (stop.aborted || total + relayed >= limit) break;
      relayed += await relay.runOnce(limit - total - relayed, { force }).catch((error: unknown) => {
        process.stderr.write(`${relay.destination.name}: ${errorText(error)}\n`);
        return 0;
      });
    }
    total += relayed;
    if (relayed === 0 && untilEmpty) break;
    if (relayed === 0) await new Promise((resolve) => setTimeout(resolve, IDLE_WAIT_MS));
  }
  return total;
}
