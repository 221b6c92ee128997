import { namedSql } from './named-sql.ts';

test.each([
  ['a name becomes a number', 'select :id', ['a'], 'select $1'],
  ['a name used twice keeps its number', 'select :id, :name, :id', ['a', 'b'], 'select $1, $2, $1'],
  ['a cast is no parameter', 'select :id::uuid, now()::text', ['a'], 'select $1::uuid, now()::text'],
  [
    'a colon in a literal is no parameter',
    `select to_char(:id, 'HH24:MI'), ':id'`,
    ['a'],
    `select to_char($1, 'HH24:MI'), ':id'`,
  ],
  ['a dash or quote in a literal ends nothing', `select '--''s', :id`, ['a'], `select '--''s', $1`],
  ['a quote in a comment opens no literal', "select :id -- the fan's\n, :name", ['a', 'b'], 'select $1 \n, $2'],
  ['a slice of an array is no parameter', 'select (:id)[1 : 2]', ['a'], 'select ($1)[1 : 2]'],
])('named sql: %s', (_case, sql, values, text) => {
  expect(namedSql('test', sql).with({ id: 'a', name: 'b' })).toEqual({ name: 'test', text, values });
});

test('named sql: comments are not sent, and names in them are no parameters', () => {
  expect(namedSql('test', 'select :id -- one of :ids\nfrom t').with({ id: 1 })).toEqual({
    ...{ name: 'test', values: [1] },
    text: 'select $1 \nfrom t',
  });
});

test('named sql: null is a value', () => {
  expect(namedSql('test', 'select :id').with({ id: null }).values).toEqual([null]);
});

test('named sql: a parameter without a value throws instead of becoming NULL', () => {
  expect(() => namedSql<{ id?: string }>('find-seat', 'select :id').with({})).toThrow(
    'statement find-seat: the parameter id has no value',
  );
});
