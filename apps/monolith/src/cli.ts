import 'reflect-metadata';
import { Command, CommanderError } from 'commander';
import { addDataCommands } from './cli/data-commands.ts';
import { addDemoCommands } from './cli/demo-crowd.ts';
import { addLoaderCommands } from './cli/loader-commands.ts';
import { addJobCommands } from './cli/job-commands.ts';
import { addOutboxCommands } from './cli/outbox-commands.ts';
import { addRetentionCommands } from './cli/retention-commands.ts';
import { addSearchCommands } from './cli/search-commands.ts';
import { addStatusCommand } from './cli/status-command.ts';
import { addTicketCommands } from './cli/ticket-commands.ts';
import { addVerifyCommand } from './cli/verify-command.ts';
import { errorText, NotRunning } from './cli/environment.ts';

/** The exit code for wrong usage. Our contract asks for 2, where the sysexits convention has 64 (EX_USAGE). */
const EXIT_USAGE = 2;
/** The exit code if a server does not run: EX_UNAVAILABLE of the sysexits convention. */
const EXIT_UNAVAILABLE = 69;

const program = new Command('tribina')
  .description(
    'Tribina at the command line. Same code and settings as the services; without DATABASE_URL and REDIS_URL it uses the system that `npm start` runs.',
  )
  .showSuggestionAfterError()
  .showHelpAfterError('(see --help)')
  .exitOverride();

for (const add of [
  addDataCommands,
  addStatusCommand,
  addOutboxCommands,
  addJobCommands,
  addLoaderCommands,
  addRetentionCommands,
  addSearchCommands,
  addVerifyCommand,
  addTicketCommands,
  addDemoCommands,
])
  add(program);
for (const command of program.commands) command.exitOverride().showHelpAfterError('(see --help)');

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : EXIT_USAGE);
  process.stderr.write(`${errorText(error)}\n`);
  process.exit(error instanceof NotRunning || isConnectionError(error) ? EXIT_UNAVAILABLE : 1);
}
process.exit();

function isConnectionError(error: unknown): boolean {
  return /ECONNREFUSED|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH/.test(String((error as { code?: unknown }).code ?? error));
}
