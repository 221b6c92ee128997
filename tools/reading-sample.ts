import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/*
 * Prints 40 random pieces of the code: comments, test names and exported identifiers. A reader who has never seen the project
 * writes down what each of them means. Fewer than two misunderstood pieces are the goal (STYLE: plain English).
 *
 *     npm run sample -- 7        the sample of seed 7
 */

interface Piece {
  readonly kind: 'comment' | 'test name' | 'identifier';
  readonly where: string;
  readonly text: string;
}

const SHARES = { comment: 20, 'test name': 10, identifier: 10 } as const;
const BLOCK_COMMENT = /(?<=^[ \t]*)\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+/gm;
const TEST_NAME = /^(\s*)(test|it|describe)(?:\.each[\s\S]*?\]\s*(?:as const)?\s*,?\s*\))?\(\s*(['"`])(.+?)\3,/gm;
/** Of a class, between its comment and its declaration. */
const DECORATOR = /(?:^@\w+\([\s\S]*?\)\n)+$/m;
const IDENTIFIER = /^export (?:declare |abstract |async )*(?:class|function|const|interface|type) (\w+).*$/gm;

function linesAfter(text: string, index: number, count: number): string[] {
  return text.slice(index).split('\n').filter((line) => line.trim() !== '').slice(0, count); // prettier-ignore
}

/** The class, interface or function around a comment that is indented. */
function surroundingDeclaration(text: string, index: number): string[] {
  const before = text.slice(0, index);
  if (!/\n[ \t]+$/.test(before)) return [];
  const declaration = before.match(/^(?:export |abstract |async )*(?:class|interface|function|const|type) .*$/gm)?.at(-1);
  return declaration ? [`(inside: ${declaration})`] : [];
}

/** All pieces of a file, each with as much code as a reader sees at a glance. */
function piecesOf(path: string): Piece[] {
  const text = readFileSync(path, 'utf8');
  const whereIs = (index: number): string => `${path}:${text.slice(0, index).split('\n').length}`;
  const comments = [...text.matchAll(BLOCK_COMMENT)].map(({ 0: comment, index }): Piece => {
    const lines = [...surroundingDeclaration(text, index), comment.trim(), ...linesAfter(text, index + comment.length, 3)];
    return { kind: 'comment', where: whereIs(index), text: lines.join('\n') };
  });
  const groups: { indent: number; name: string }[] = [];
  const tests = [...text.matchAll(TEST_NAME)].flatMap((match): Piece[] => {
    const [, space = '', word, , name = ''] = match;
    const indent = space.replace('\n', '').length;
    while ((groups.at(-1)?.indent ?? -1) >= indent) groups.pop();
    const names = [...groups.map((group) => group.name), name];
    if (word === 'describe') groups.push({ indent, name });
    return word === 'describe' ? [] : [{ kind: 'test name', where: whereIs(match.index), text: names.join(' › ') }];
  });
  const identifiers = [...text.matchAll(IDENTIFIER)].map((match): Piece => {
    const before = text.slice(0, match.index).replace(DECORATOR, '').trimEnd();
    const comment = before.endsWith('*/') ? before.slice(before.lastIndexOf('/**')) : undefined;
    const lines = [match[1], ...(comment ? [comment] : []), ...linesAfter(text, match.index, 4)];
    return { kind: 'identifier', where: whereIs(match.index), text: lines.join('\n') };
  });
  return [...comments, ...tests, ...identifiers];
}

/** The random numbers from 0 to 1 of a seed. They are the same on every machine. */
const seed = process.argv[2] ?? '1';
let drawn = 0;
const random = () =>
  createHash('sha256')
    .update(`${seed} ${(drawn += 1)}`)
    .digest()
    .readUInt32BE() /
  2 ** 32;
const paths = execFileSync('git', ['ls-files', 'apps', 'libs', 'tools', 'tests', 'bench'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.(ts|tsx|mjs)$/.test(path) && !path.startsWith('tests/canaries/'));
const pieces = paths.flatMap(piecesOf);
let number = 0;
for (const [kind, share] of Object.entries(SHARES)) {
  const rest = pieces.filter((piece) => piece.kind === kind);
  for (let taken = 0; taken < share && rest.length > 0; taken += 1) {
    const [piece] = rest.splice(Math.floor(random() * rest.length), 1);
    console.log(`--- ${(number += 1)} · ${piece?.kind} · ${piece?.where}\n${piece?.text}\n`);
  }
}
