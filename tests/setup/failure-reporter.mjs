// A Jest reporter of `npm test` (tools/local/jest-step.ts): writes a line for each test when it fails, and for each file that could
// not run or left something open. Jest's own reporter writes only when a whole file is done.
import path from 'node:path';

export default class FailureReporter {
  onTestCaseResult({ path: file }, { status, fullName }) {
    if (status === 'failed') say(file, fullName);
  }

  onTestFileResult({ path: file }, { testExecError }) {
    if (testExecError) say(file, testExecError.message.split('\n')[0]);
  }
}

function say(file, what) {
  process.stderr.write(`FAILED ${path.relative(process.cwd(), file)} › ${what}\n`);
}
