import type { Command } from 'commander';
import { RelayApi } from '../relay/relay.api.ts';
import { cliConfig, print, wholeNumber } from './environment.ts';
import { withMonolithContext } from './monolith-context.ts';

const IDLE_MS = 100;

interface ConsumeOptions {
  readonly limit: number;
  readonly timeLimit: number;
  readonly untilEmpty?: boolean;
  readonly force?: boolean;
}

export function addOutboxCommands(program: Command): void {
  program
    .command('outbox:consume')
    .description('relay messages of the outbox, besides what the services relay')
    .option('--limit <n>', 'stop after so many messages', wholeNumber(1, 1_000_000), 1000)
    .option('--time-limit <seconds>', 'stop after so many seconds', wholeNumber(1, 86_400), 55)
    .option('--until-empty', 'stop as soon as nothing is waiting')
    .option('--force', 'also mails and pushes older than 7 days, which are parked; not those that have left already')
    .action(async (options: ConsumeOptions) => {
      const relayed = await withMonolithContext(cliConfig(), (context) =>
        consume(context.get(RelayApi, { strict: false }), options),
      );
      print(`relayed ${relayed} message(s)`);
    });
}

/** Rounds over all destinations until a limit is reached; a SIGTERM ends it after the batch in hand. */
async function consume({ relays }: RelayApi, { limit, timeLimit, untilEmpty, force }: ConsumeOptions): Promise<number> {
  let stopped = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => (stopped = true));
  const endAt = Date.now() + timeLimit * 1000;
  let total = 0;
  while (!stopped && total < limit && Date.now() < endAt) {
    let round = 0;
    for (const relay of relays) {
      if (stopped || total + round >= limit) break;
      round += await relay.runOnce(limit - total - round, { force }).catch((error: unknown) => {
        process.stderr.write(`${relay.destination.name}: ${error instanceof Error ? error.message : String(error)}\n`);
        return 0;
      });
    }
    total += round;
    if (round === 0 && untilEmpty) break;
    if (round === 0) await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  }
  return total;
}
