// `npm run fix`: runs the linter with automatic corrections, then formats all files.
import { npmBinary, ROOT } from './local/build.ts';
import { FORMAT_ARGUMENTS, LINT_ARGUMENTS } from './local/check-steps.ts';
import { runCommand } from './local/run-command.ts';

const onLine = (line: string) => void process.stdout.write(`${line}\n`);
const linted = await runCommand(npmBinary('oxlint'), ['--fix', ...LINT_ARGUMENTS], { cwd: ROOT, onLine });
const formatted = await runCommand(npmBinary('prettier'), ['--write', ...FORMAT_ARGUMENTS], { cwd: ROOT, onLine });
process.exitCode = linted.code || formatted.code;
