// Two commits side by side, each built in a git worktree under .cache/compare, so that nothing is written into the checkout.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { takeLock } from '../../tools/local/home-lock.ts';
import { Trouble } from '../../tools/local/trouble.ts';
import { WrongUsage } from './arguments.ts';
import { runToEnd } from './run-to-end.ts';

export const sides = ['old', 'new'] as const;
export type Side = (typeof sides)[number];

export interface Project {
  /** The checkout that is compared. */
  readonly root: string;
  readonly signal: AbortSignal;
  say(line: string): void;
}

export interface Checkout {
  readonly folder: string;
  /** Shown to the reader. */
  readonly title: string;
}

export interface Checkouts extends Readonly<Record<Side, Checkout>> {
  remove(): void;
}

/** Throws WrongUsage for an unknown revision. Without `new` the working tree is taken, with files that are not committed. */
export async function makeCheckouts(project: Project, revisions: { old: string; new: string | undefined }): Promise<Checkouts> {
  const { root } = project;
  const place = path.join(root, '.cache/compare');
  const old = commitOf(root, revisions.old);
  const given = revisions.new === undefined ? undefined : commitOf(root, revisions.new);
  mkdirSync(place, { recursive: true });
  const lock = await takeLock(path.join(place, 'lock'));
  if ('heldBy' in lock)
    throw new Trouble(`Process ${lock.heldBy.pid} is comparing already.`, 'Wait for it: two comparisons disturb each other.');
  const remove = (): void => {
    for (const side of sides) removeWorktree(root, path.join(place, side));
    rmSync(path.join(place, 'index'), { force: true });
    lock.release();
  };
  try {
    // A comparison that was killed leaves its worktrees behind.
    for (const side of sides) removeWorktree(root, path.join(place, side));
    const current = given ?? commitOfWorkingTree(root, path.join(place, 'index'));
    return {
      old: await makeCheckout(project, path.join(place, 'old'), old),
      new: await makeCheckout(project, path.join(place, 'new'), current),
      remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

async function makeCheckout({ root, signal, say }: Project, folder: string, commit: string): Promise<Checkout> {
  const side = path.basename(folder);
  const subject = git(root, ['log', '-1', '--format=%h %s', commit]);
  git(root, ['worktree', 'add', '--quiet', '--detach', folder, commit]);
  // PostgreSQL's and Redis' programs that were unpacked there once serve all checkouts.
  symlinkSync(path.join(root, '.cache'), path.join(folder, '.cache'));
  const modules = path.join(root, 'node_modules');
  if (existsSync(modules) && lockfile(root) === lockfile(folder)) symlinkSync(modules, path.join(folder, 'node_modules'));
  else {
    say(`installing the packages of ${side}: its package-lock.json is another one`);
    await runToEnd('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, signal });
  }
  say(`building ${side}: ${subject}`);
  await runToEnd('npm', ['run', 'build', '--', '--server-only'], { cwd: folder, signal });
  return { folder, title: subject };
}

/** Its links to node_modules and .cache are removed, not what they lead to. */
function removeWorktree(root: string, folder: string): void {
  // Fails when git knows no such worktree, which is the usual case before the first run.
  spawnSync('git', ['worktree', 'remove', '--force', '--force', folder], { cwd: root });
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function lockfile(folder: string): string {
  return readFileSync(path.join(folder, 'package-lock.json'), 'utf8');
}

function commitOf(root: string, revision: string): string {
  const found = spawnSync('git', ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`], {
    ...{ cwd: root, encoding: 'utf8' },
  });
  if (found.status !== 0) throw new WrongUsage(`git knows no commit "${revision}".`);
  return found.stdout.trim();
}

/** HEAD when nothing is changed; else a commit that no branch knows, made with an index of its own. */
function commitOfWorkingTree(root: string, index: string): string {
  const environment = {
    GIT_INDEX_FILE: index,
    ...{ GIT_AUTHOR_NAME: 'bench:compare', GIT_AUTHOR_EMAIL: 'bench@localhost' },
    ...{ GIT_COMMITTER_NAME: 'bench:compare', GIT_COMMITTER_EMAIL: 'bench@localhost' },
  };
  git(root, ['read-tree', 'HEAD'], environment);
  git(root, ['add', '--all'], environment);
  const tree = git(root, ['write-tree'], environment);
  if (tree === git(root, ['rev-parse', 'HEAD^{tree}'])) return git(root, ['rev-parse', 'HEAD']);
  return git(root, ['commit-tree', tree, '-p', 'HEAD', '-m', 'The working tree with its changes'], environment);
}

function git(root: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}): string {
  const done = spawnSync('git', args, { cwd: root, encoding: 'utf8', env: { ...process.env, ...environment } });
  if (done.status === 0) return done.stdout.trim();
  throw new Error(`git ${args.join(' ')}: ${(done.stderr || done.error?.message || 'failed').trim()}`);
}
