import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

// Tests the leak check of tests/setup: runs Jest on test files that leak a resource. Each file must fail with a message that names the
// resource.

const root = path.resolve(import.meta.dirname, '..');
const folder = mkdtempSync(path.join(tmpdir(), 'tribina-leak-check-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Report {
  testResults: { name: string; status: string; message: string }[];
}

async function runOnCanaries(): Promise<Map<string, { status: string; message: string }>> {
  const report = path.join(folder, 'report.json');
  const config = {
    rootDir: path.join(root, 'tests/canaries/leaks'),
    testEnvironment: path.join(root, 'tests/setup/leak-checked-environment.mjs'),
    testRegex: '\\.test\\.mjs$',
    transform: {},
    moduleFileExtensions: ['mjs', 'js'],
    // A fresh cache: with known durations Jest would run quick files in its own process, and the leaks would keep that process alive.
    cacheDirectory: path.join(folder, 'cache'),
  };
  const args = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--ci', '--maxWorkers=2'];
  await new Promise((resolve) =>
    execFile(
      process.execPath,
      [...args, '--json', `--outputFile=${report}`, `--config=${JSON.stringify(config)}`],
      { cwd: root },
      resolve,
    ),
  );
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  return new Map(testResults.map(({ name, status, message }) => [path.basename(name, '.test.mjs'), { status, message }]));
}

test('leak check: a test file that leaves a server, a connection, a process or a timer open fails; a file that closes them passes', async () => {
  const results = await runOnCanaries();
  expect(results.get('clean')).toMatchObject({ status: 'passed', message: '' });
  for (const [file, resource] of [
    ['server', '1 TCPServerWrap'],
    ['connection', 'TCPSocketWrap'],
    ['process', '1 ProcessWrap'],
    ['timer', '1 Timeout'],
  ] as const) {
    expect([file, results.get(file)?.status]).toEqual([file, 'failed']);
    expect(results.get(file)?.message).toMatch(new RegExp(`This file leaves open: .*${resource}`));
  }
  expect(results.size).toBe(5);
});
