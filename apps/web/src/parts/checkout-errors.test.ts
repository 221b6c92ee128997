import { Problem } from '../api/problem.ts';
import { languages } from '../text/texts.ts';
import { validateCheckout, serverFieldErrors } from './checkout-errors.ts';

const request = (names: string[], email: string) => ({ holders: names.map((name, n) => ({ seat_id: `${n}`, name })), email });
const invalidFields = (names: string[], email: string) => Object.keys(validateCheckout(request(names, email), languages.en));

test('checkout form: the name of each ticket holder must not be empty or only spaces', () => {
  expect(invalidFields(['Ana', ' ', ''], 'ana@example.com')).toEqual(['holder-1', 'holder-2']);
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
])('checkout form: the e-mail address %j is accepted: %s', (email, isValid) => {
  expect(invalidFields(['Ana'], email)).toEqual(isValid ? [] : ['email']);
});

test('serverFieldErrors: an error of the server is shown at its form field, with our own text instead of the message of the server', () => {
  const errors = [
    { path: 'holders.2.name', message: 'x' },
    { path: '/holders/10/name', message: 'x' },
    { path: '/email', message: 'x' },
    { path: 'body', message: 'x' },
  ];
  expect(serverFieldErrors(new Problem('VALIDATION_FAILED', 400, { errors }), languages.en)).toEqual({
    'holder-2': languages.en.checkout.nameNeeded,
    'holder-10': languages.en.checkout.nameNeeded,
    email: languages.en.checkout.emailNeeded,
  });
});
