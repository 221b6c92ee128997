import { namedSql } from './named-sql.ts';

test.each([
  ['a parameter name becomes a number', 'select :id', ['a'], 'select $1'],
  ['a name that is used twice has the same number in both places', 'select :id, :name, :id', ['a', 'b'], 'select $1, $2, $1'],
  ['a cast such as ::uuid is not a parameter', 'select :id::uuid, now()::text', ['a'], 'select $1::uuid, now()::text'],
  [
    'a colon in a string literal does not start a parameter',
    `select to_char(:id, 'HH24:MI'), ':id'`,
    ['a'],
    `select to_char($1, 'HH24:MI'), ':id'`,
  ],
  ['dashes and doubled quotes in a string literal do not end it', `select '--''s', :id`, ['a'], `select '--''s', $1`],
  ['a quote in a comment does not start a string literal', "select :id -- the fan's\n, :name", ['a', 'b'], 'select $1 \n, $2'],
  ['the colon of an array slice does not start a parameter', 'select (:id)[1 : 2]', ['a'], 'select ($1)[1 : 2]'],
])('namedSql: %s', (_case, sql, values, text) => {
  expect(namedSql('test', sql).with({ id: 'a', name: 'b' })).toEqual({ name: 'test', text, values });
});

test('namedSql: comments are removed from the statement, and names in comments are not parameters', () => {
  expect(namedSql('test', 'select :id -- one of :ids\nfrom t').with({ id: 1 })).toEqual({
    ...{ name: 'test', values: [1] },
    text: 'select $1 \nfrom t',
  });
});

test('namedSql: a parameter with the value null is sent as NULL', () => {
  expect(namedSql('test', 'select :id').with({ id: null }).values).toEqual([null]);
});

test('namedSql: a parameter without a value throws an error instead of being sent as NULL', () => {
  expect(() => namedSql<{ id?: string }>('find-seat', 'select :id').with({})).toThrow(
    'statement find-seat: the parameter id has no value',
  );
});
