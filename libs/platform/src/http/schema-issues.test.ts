import { z } from 'zod';
import { asValidationFailed } from './schema-issues.ts';

const circle = z.strictObject({ radius: z.int().min(1), colour: z.string().optional() });
const path = z.strictObject({ points: z.array(z.int()).min(2) });
const shape = z.union([circle, path]);

async function pathsOf(schema: z.ZodType, body: unknown): Promise<(string | undefined)[]> {
  const { issues = [] } = await schema['~standard'].validate(body);
  return (asValidationFailed(issues).particulars.errors ?? []).map((error) => error.path);
}

test.each<[string, unknown, string[]]>([
  ['a wrong field of the first form', { radius: 0 }, ['radius']],
  ['a wrong field of the second form', { points: [1] }, ['points']],
  ['a missing field of a form that was begun', { colour: 'red' }, ['radius']],
  ['every wrong item of a list', { points: [1.5, 1, 'x'] }, ['points.0', 'points.2']],
  ['a field that only another form has', { radius: 1, points: [1, 2] }, ['']],
  ['no object at all', 7, ['']],
])('of several forms the one that was meant is spoken of: %s', async (_what, body, paths) => {
  expect(await pathsOf(shape, body)).toEqual(paths);
});

test('forms within a form are spoken of from the outside in', async () => {
  expect(await pathsOf(z.strictObject({ shapes: z.array(shape) }), { shapes: [{ radius: 1 }, { points: [1] }] })).toEqual([
    'shapes.1.points',
  ]);
});

test('of a body with a thousand wrong items twenty are told', async () => {
  expect(await pathsOf(path, { points: Array.from({ length: 1000 }, () => 'x') })).toHaveLength(20);
});
