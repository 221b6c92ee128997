// Tests the comparison with a small git repository, whose benchmark reports the speed written in the file speed.txt of each commit.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify } from '../../tools/local/processes.ts';
import { type CompareOptions, WrongUsage } from './arguments.ts';
import { compareCommits } from './compare-commits.ts';

const machine = {
  ...{ processor: 'test', cores: 2, memoryGib: 4, platform: 'linux x64', node: 'v24', commit: 'abc', loadBefore: 0.2 },
};
/**
 * speed.txt contains one speed for each run of the commit, or one for all. Or it contains one word: `broken` (every run fails) or
 * `endless` (a run goes on until it is aborted). Each further run of a commit names its result file with a later date.
 */
const BENCHMARK = `
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
if (readFileSync('built.txt', 'utf8') !== '--server-only') throw new Error('not built');
const speeds = readFileSync('speed.txt', 'utf8');
const earlier = existsSync('.cache/runs') ? readFileSync('.cache/runs', 'utf8').split('\\n').filter((line) => line === speeds).length : 0;
appendFileSync('.cache/runs', speeds + '\\n');
if (speeds === 'broken') throw new Error('the tables are wrong');
if (speeds === 'endless') {
  process.on('SIGTERM', () => { writeFileSync('.cache/asked-to-end', ''); process.exit(); });
  // Behaves like the servers of a benchmark: has its own process group and exits some time after its stdin has closed.
  const lingering = "process.stdin.on('end', () => setTimeout(() => {}, 500)).resume()";
  const server = spawn(process.execPath, ['-e', lingering], { detached: true, stdio: ['pipe', 'inherit', 'inherit'] });
  // Behaves like the compiler: ignores SIGTERM, and holds no pipe that the comparison could wait for.
  const ignoresSigterm = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('ready')";
  const compiler = spawn(process.execPath, ['-e', ignoresSigterm]);
  compiler.stdout.once('data', () => writeFileSync('.cache/pids', [process.pid, server.pid, compiler.pid].join(' ')));
} else {
  const figures = [{ what: 'joins', unit: '/s', values: [Number(speeds.split(' ')[earlier] ?? speeds)] }];
  mkdirSync('bench/results', { recursive: true });
  writeFileSync('bench/results/2026-01-0' + (earlier + 1) + '-queue-' + process.argv.at(-1) + '.json', JSON.stringify({ figures }));
}`;

let root = '';
const messages: string[] = [];

function git(...args: string[]): string {
  const names = ['-c', 'user.name=test', '-c', 'user.email=test@localhost'];
  const result = spawnSync('git', [...names, ...args], { cwd: root, encoding: 'utf8' });
  if (result.status !== 0) throw new Error(result.stderr);
  return result.stdout.trim();
}
const write = (file: string, text: string): void => writeFileSync(path.join(root, file), text);

function commit(speed: string): string {
  write('speed.txt', speed);
  git('add', '--all');
  git('commit', '--quiet', '--message', `speed ${speed}`);
  return git('rev-parse', 'HEAD');
}

const runs = (): string[] => readFileSync(path.join(root, '.cache/runs'), 'utf8').trim().split('\n');

async function run(options: Partial<CompareOptions>, signal = new AbortController().signal) {
  const project = { root, signal, say: (line: string) => void messages.push(line) };
  return compareCommits(project, { old: 'HEAD', new: undefined, only: ['queue'], pairs: 2, ...options }, machine);
}

beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'tribina-compare-')));
  messages.length = 0;
  for (const folder of ['.cache', 'node_modules', 'bench/results']) mkdirSync(path.join(root, folder), { recursive: true });
  const scripts = { build: 'node build.mjs', 'bench:queue': 'node benchmark.mjs' };
  write('package.json', JSON.stringify({ name: 'small', version: '1.0.0', scripts }));
  const lock = { name: 'small', version: '1.0.0', lockfileVersion: 3, requires: true, packages: {} };
  write('package-lock.json', JSON.stringify(lock));
  write('.gitignore', '.cache/\nnode_modules/\nbuilt.txt\n');
  write('build.mjs', `import { writeFileSync } from 'node:fs'; writeFileSync('built.txt', process.argv.at(-1));`);
  write('benchmark.mjs', BENCHMARK);
  write('bench/results/kept.md', 'as it was');
  git('init', '--quiet');
});

afterEach(() => {
  try {
    // After every comparison the main checkout must be unchanged.
    expect(git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
    expect(readdirSync(path.join(root, '.cache/compare'))).toEqual([]);
    expect(readdirSync(path.join(root, 'bench/results'))).toEqual(['kept.md']);
    expect(existsSync(path.join(root, 'node_modules'))).toBe(true);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test('compareCommits: a commit that is 20 % slower fails; the runs alternate old new, new old', async () => {
  const old = commit('100 50');
  const current = commit('80 40');
  const { report, isGood } = await run({ old, new: current });
  expect(isGood).toBe(false);
  expect(report).toMatch(/queue: joins \(\/s\) \| +0\.800 \| 0\.800 … 0\.800 \| +2 \| +75\.0 \| +60\.0 \| BELOW 0\.95 \|/);
  expect(report).toMatch(/- old: \w+ speed 100 50\n- new: \w+ speed 80 40\n/);
  expect(runs()).toEqual(['100 50', '80 40', '80 40', '100 50']);
  expect(messages.filter((line) => line.startsWith('pair 2 of 2: queue, '))).toHaveLength(2);
});

test('compareCommits: without --new the working tree is measured with its changed and new files, and the comparison does not modify it', async () => {
  const old = commit('100');
  write('speed.txt', '70');
  write('notes.txt', 'not committed');
  const before = git('status', '--porcelain');
  const { report } = await run({ old, pairs: 1 });
  expect(report).toContain('0.700');
  expect(report).toContain('The working tree with its changes');
  expect([git('status', '--porcelain'), git('rev-parse', 'HEAD')]).toEqual([before, old]);
});

test('compareCommits: an old commit with a different package-lock.json gets its own node_modules', async () => {
  const old = commit('100');
  write('package-lock.json', `${readFileSync(path.join(root, 'package-lock.json'), 'utf8')}\n`);
  write('node_modules/installed.txt', 'for the new one');
  commit('100');
  const { isGood } = await run({ old, pairs: 1 });
  expect(isGood).toBe(true);
  expect(messages.filter((line) => line.startsWith('installing the packages'))).toEqual([
    'installing the packages of old: its package-lock.json differs',
  ]);
  expect(readdirSync(path.join(root, 'node_modules'))).toEqual(['installed.txt']);
});

test('compareCommits: a failed benchmark is reported with its last output lines and fails the comparison', async () => {
  const old = commit('100');
  commit('broken');
  const { report, isGood } = await run({ old, pairs: 1 });
  expect(isGood).toBe(false);
  expect(report).toContain('- not compared at all: queue');
  expect(report).toContain('Nothing was compared.');
  expect(report).toContain('- pair 1 of 1: queue, new failed: ');
  expect(report).toContain('the tables are wrong');
});

test('compareCommits: an unknown revision throws WrongUsage', async () => {
  commit('100');
  mkdirSync(path.join(root, '.cache/compare'));
  await expect(run({ old: 'no-such-branch' })).rejects.toThrow(WrongUsage);
});

test('compareCommits: on abort the benchmark and all processes that it started are ended before the worktrees are removed', async () => {
  commit('endless');
  const stop = new AbortController();
  const running = run({}, stop.signal);
  const pidsFile = path.join(root, '.cache/pids');
  const failedOrAborted = running.then(({ report }) => Promise.reject(new Error(`it ended by itself: ${report}`)));
  const pids = (): string => (existsSync(pidsFile) ? readFileSync(pidsFile, 'utf8') : '');
  while (pids() === '') await Promise.race([sleep(50), failedOrAborted]);
  const started = pids().split(' ').map(Number);
  expect(started.map(identify)).toEqual([expect.anything(), expect.anything(), expect.anything()]);
  stop.abort();
  await expect(failedOrAborted).rejects.toThrow('abort');
  const stillRunning = started.filter((pid) => identify(pid) !== undefined);
  for (const pid of stillRunning) process.kill(pid, 'SIGKILL');
  expect(stillRunning).toEqual([]);
  expect(existsSync(path.join(root, '.cache/asked-to-end'))).toBe(true);
});

test('compareCommits: the next comparison removes the worktrees of a killed comparison', async () => {
  const old = commit('100');
  git('worktree', 'add', '--quiet', '--detach', '.cache/compare/old', old);
  rmSync(path.join(root, '.cache/compare/old'), { recursive: true });
  mkdirSync(path.join(root, '.cache/compare/new'));
  write('.cache/compare/new/left.txt', 'git does not know this folder');
  expect((await run({ old, pairs: 1 })).isGood).toBe(true);
});
