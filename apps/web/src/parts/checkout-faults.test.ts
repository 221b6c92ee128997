import { Problem } from '../api/problem.ts';
import { en } from '../text/en.ts';
import { faultsOf, serverFaults } from './checkout-faults.ts';

const wish = (names: string[], email: string) => ({ holders: names.map((name, n) => ({ seat_id: `${n}`, name })), email });
const fieldsAtFault = (names: string[], email: string) => Object.keys(faultsOf(wish(names, email), en));

test('every holder needs a name that is not only spaces', () => {
  expect(fieldsAtFault(['Ana', ' ', ''], 'ana@example.com')).toEqual(['holder-1', 'holder-2']);
});

test.each([
  ['ana@example.com', true],
  [' ana@example.com ', true],
  ['ana@mail.example.hr', true],
  ['ana', false],
  ['ana@example', false],
  ['ana@@example.com', false],
  ['ana b@example.com', false],
  ['', false],
])('the address %j is sent: %s', (email, isSent) => {
  expect(fieldsAtFault(['Ana'], email)).toEqual(isSent ? [] : ['email']);
});

test('what the server refuses is shown at its field, in the words of the page', () => {
  const errors = [
    { path: 'holders.2.name', message: 'x' },
    { path: '/holders/10/name', message: 'x' },
    { path: '/email', message: 'x' },
    { path: 'body', message: 'x' },
  ];
  expect(serverFaults(new Problem('VALIDATION_FAILED', 400, { errors }), en)).toEqual({
    'holder-2': en.checkout.nameNeeded,
    'holder-10': en.checkout.nameNeeded,
    email: en.checkout.emailNeeded,
  });
});
