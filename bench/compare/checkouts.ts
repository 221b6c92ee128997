// Builds two commits, each in its own git worktree under .cache/compare, so that nothing is written into the main checkout.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { takeLock } from '../../tools/local/home-lock.ts';
import { UserError } from '../../tools/local/trouble.ts';
import { WrongUsage } from './arguments.ts';
import { runToEnd } from './run-to-end.ts';

/** The two commits of a comparison. */
export const sides = ['old', 'new'] as const;
/** Which of the two commits: `old` is the base of the comparison. */
export type Side = (typeof sides)[number];

/** Where the comparison runs, how it is aborted and where it prints its progress. */
export interface ComparisonContext {
  /** The folder of the main checkout, where the comparison was started. */
  readonly root: string;
  readonly signal: AbortSignal;
  say(line: string): void;
}

/** A worktree with one of the two commits, built and ready to run benchmarks. */
export interface BuiltCheckout {
  readonly folder: string;
  /** Short commit id and subject, for the report. */
  readonly title: string;
}

/** The worktrees of both commits. `remove` deletes the worktrees. */
export interface BuiltCheckouts extends Readonly<Record<Side, BuiltCheckout>> {
  remove(): void;
}

/** Builds both commits. Without `new`, the working tree with its uncommitted files is used. Throws WrongUsage for an unknown revision. */
export async function makeCheckouts(
  project: ComparisonContext,
  revisions: { old: string; new: string | undefined },
): Promise<BuiltCheckouts> {
  const { root } = project;
  const folder = path.join(root, '.cache/compare');
  const old = commitOf(root, revisions.old);
  const chosen = revisions.new === undefined ? undefined : commitOf(root, revisions.new);
  mkdirSync(folder, { recursive: true });
  const lock = await takeLock(path.join(folder, 'lock'));
  if ('heldBy' in lock)
    throw new UserError(
      `Process ${lock.heldBy.pid} is already comparing.`,
      'Wait until it has ended: two comparisons at the same time disturb each other.',
    );
  const remove = (): void => {
    for (const side of sides) removeWorktree(root, path.join(folder, side));
    rmSync(path.join(folder, 'index'), { force: true });
    lock.release();
  };
  try {
    // A comparison that was killed earlier has left its worktrees behind.
    for (const side of sides) removeWorktree(root, path.join(folder, side));
    const current = chosen ?? commitOfWorkingTree(root, path.join(folder, 'index'));
    return {
      old: await makeCheckout(project, path.join(folder, 'old'), old),
      new: await makeCheckout(project, path.join(folder, 'new'), current),
      remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

async function makeCheckout({ root, signal, say }: ComparisonContext, folder: string, commit: string): Promise<BuiltCheckout> {
  const side = path.basename(folder);
  const subject = git(root, ['log', '-1', '--format=%h %s', commit]);
  git(root, ['worktree', 'add', '--quiet', '--detach', folder, commit]);
  // All checkouts share the PostgreSQL and Redis programs that were unpacked into .cache.
  symlinkSync(path.join(root, '.cache'), path.join(folder, '.cache'));
  const modules = path.join(root, 'node_modules');
  if (existsSync(modules) && lockfile(root) === lockfile(folder)) symlinkSync(modules, path.join(folder, 'node_modules'));
  else {
    say(`installing the packages of ${side}: its package-lock.json differs`);
    await runToEnd('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, signal });
  }
  say(`building ${side}: ${subject}`);
  await runToEnd('npm', ['run', 'build', '--', '--server-only'], { cwd: folder, signal });
  return { folder, title: subject };
}

/** Deletes a worktree of the comparison. The links to node_modules and .cache are deleted, but not their targets. */
function removeWorktree(root: string, folder: string): void {
  // This command fails if the worktree does not exist, the usual case before the first run. Its exit code is ignored.
  spawnSync('git', ['worktree', 'remove', '--force', '--force', folder], { cwd: root });
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function lockfile(folder: string): string {
  return readFileSync(path.join(folder, 'package-lock.json'), 'utf8');
}

function commitOf(root: string, revision: string): string {
  const result = spawnSync('git', ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`], {
    ...{ cwd: root, encoding: 'utf8' },
  });
  if (result.status !== 0) throw new WrongUsage(`git knows no commit "${revision}".`);
  return result.stdout.trim();
}

/**
 * The commit to measure for the working tree: HEAD if nothing was changed, otherwise a new commit on no branch. The new commit is
 * made with a separate git index file, so that the staged changes of the user stay as they are.
 */
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
  const result = spawnSync('git', args, { cwd: root, encoding: 'utf8', env: { ...process.env, ...environment } });
  if (result.status === 0) return result.stdout.trim();
  throw new Error(`git ${args.join(' ')}: ${(result.stderr || result.error?.message || 'failed').trim()}`);
}
