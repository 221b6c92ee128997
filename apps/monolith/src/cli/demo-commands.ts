import { publicUrls } from '#platform/config/settings';
import type { Command } from 'commander';
import { demoCrowd, firstQueueMatch } from './demo-crowd.ts';
import { cliConfig, print, wholeNumber } from './environment.ts';

/** Adds the command `demo:crowd`. */
export function addDemoCommands(program: Command): void {
  program
    .command('demo:crowd')
    .description('let simulated fans join a waiting room, so that you can watch the line move (at most 2,000 fans)')
    .argument('<n>', 'number of fans', wholeNumber(1, 2000))
    .option('--match <id>', 'the match to join; default: the first open match with a waiting room')
    .option('--time-limit <seconds>', 'stop after this many seconds', wholeNumber(1, 3600), 300)
    .action(async (fans: number, options: { match?: string; timeLimit: number }) => {
      const config = cliConfig();
      const { publicUrl, queueInternalUrl } = publicUrls(config);
      const matchId = options.match ?? (await firstQueueMatch(publicUrl));
      print(`${fans} fans join the line of ${matchId}; Ctrl-C makes all of them leave`);
      const result = await demoCrowd({
        fans,
        matchId,
        queueUrl: queueInternalUrl,
        internalSecret: config.INTERNAL_AUTH_SECRET,
        seconds: options.timeLimit,
        print,
      });
      print(`${result.joined} joined, ${result.granted} got a turn, ${result.left} have left`);
    });
}
