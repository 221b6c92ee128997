import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import pg from 'pg';
import { boolArray, hexBytes, int4Array, ctidArray, uuidArray } from './binary-parameters.ts';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await database.close();
});

/** Sends `value` as a parameter of `type`; returns PostgreSQL's text form of what it received. */
async function readAsText(type: string, value: Buffer): Promise<string> {
  const { rows } = await client.query<{ text: string }>(`select ($1::${type})::text as text`, [value]);
  return rows[0]!.text;
}

test.each([
  [
    'int4[]',
    int4Array([0, 1, -1, 255, 256, 65_536, 2_147_483_647, -2_147_483_648]),
    '{0,1,-1,255,256,65536,2147483647,-2147483648}',
  ],
  ['bool[]', boolArray([true, false]), '{t,f}'],
  [
    'uuid[]',
    uuidArray(['0190a000-0000-7000-8000-000000000001', 'fedcba98-7654-4321-8FED-CBA987654321']),
    '{0190a000-0000-7000-8000-000000000001,fedcba98-7654-4321-8fed-cba987654321}',
  ],
  ['tid[]', ctidArray(['(0,0)', '(4294967294,65535)', '(70000,300)']), '{"(0,0)","(4294967294,65535)","(70000,300)"}'],
  ['bytea', hexBytes(['00ff', 'A10b'], 2), '\\x00ffa10b'],
])('a binary %s parameter arrives with the same values', async (type, value, text) => {
  expect(await readAsText(type, value)).toBe(text);
});

test.each([
  ['int4[]', int4Array([])],
  ['bool[]', boolArray([])],
  ['uuid[]', uuidArray([])],
  ['tid[]', ctidArray([])],
])('an empty binary %s parameter arrives as an empty array', async (type, value) => {
  expect(await readAsText(type, value)).toBe('{}');
});

test('a UUID or a hexadecimal value of the wrong length is an error before anything is sent', () => {
  expect(() => uuidArray(['0190a000'])).toThrow('is not a UUID');
  expect(() => hexBytes(['00'], 2)).toThrow('2 bytes');
});
