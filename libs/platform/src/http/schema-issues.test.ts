import { z } from 'zod';
import { asValidationFailed } from './schema-issues.ts';

const circle = z.strictObject({ radius: z.int().min(1), colour: z.string().optional() });
const path = z.strictObject({ points: z.array(z.int()).min(2) });
const shape = z.union([circle, path]);

function pathsOf(schema: z.ZodType, body: unknown): (string | undefined)[] {
  const issues = schema.safeParse(body).error?.issues ?? [];
  return (asValidationFailed(issues).particulars.errors ?? []).map((error) => error.path);
}

test.each<[string, unknown, string[]]>([
  ['a wrong field of the first variant', { radius: 0 }, ['radius']],
  ['a wrong field of the second variant', { points: [1] }, ['points']],
  ['a missing field of the variant with another known field', { colour: 'red' }, ['radius']],
  ['every wrong item of a list', { points: [1.5, 1, 'x'] }, ['points.0', 'points.2']],
  ['a field that only the other variant has', { radius: 1, points: [1, 2] }, ['']],
  ['a number instead of an object', 7, ['']],
])('asValidationFailed: for a union only the errors of the best matching variant are listed: %s', (_what, body, paths) => {
  expect(pathsOf(shape, body)).toEqual(paths);
});

test('asValidationFailed: the path of an error in a nested union begins at the root of the body', () => {
  expect(pathsOf(z.strictObject({ shapes: z.array(shape) }), { shapes: [{ radius: 1 }, { points: [1] }] })).toEqual([
    'shapes.1.points',
  ]);
});

test('asValidationFailed: the answer to a body with 1000 wrong items lists 20 errors', () => {
  expect(pathsOf(path, { points: Array.from({ length: 1000 }, () => 'x') })).toHaveLength(20);
});
