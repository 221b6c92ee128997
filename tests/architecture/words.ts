import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** Words that docs/glossary.md replaces ("Words we do not use") and that must not occur anywhere in code, comments and tests. */
export const REPLACED = ['lane', 'wish', 'desk', 'picture', 'news', 'rush', 'fence', 'patience', 'surroundings'] as const;
/** Names that contain a replaced word and must stay: a channel and a key in Redis, and a column. */
const KEPT_NAMES = /seat_news|loader:fence|\bfence (?==|<=)/g;

const WORD = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;

/** The replaced words in a text, also as a part of an identifier such as `holdWish` or `MAX_WISHES`. */
export function replacedWordsIn(text: string): string[] {
  const words = text.replace(KEPT_NAMES, '').match(WORD) ?? [];
  const replaced: ReadonlySet<string> = new Set(REPLACED.flatMap((word) => [word, `${word}s`, `${word}es`]));
  return words.filter((word) => replaced.has(word.toLowerCase()));
}

/** Each source file that contains replaced words, with these words. The files that list the replaced words are not checked. */
export function filesWithReplacedWords(): string[] {
  const paths = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'apps', 'libs', 'tools', 'tests', 'bench'], {
    cwd: root,
    encoding: 'utf8',
  }).split('\n');
  return paths
    .filter((file) => /\.(tsx?|mjs|lua)$/.test(file) && !/^tests\/architecture(\.test|\/words)\.ts$/.test(file))
    .flatMap((file) => {
      const words = replacedWordsIn(readFileSync(path.join(root, file), 'utf8'));
      return words.length > 0 ? [`${file}: ${[...new Set(words)].join(', ')}`] : [];
    });
}

/** The section of the glossary that lists the replaced words. */
export function wordsInGlossary(): string {
  const glossary = readFileSync(path.join(root, 'docs/glossary.md'), 'utf8');
  return glossary.slice(glossary.indexOf('## Words we do not use'));
}
