import { takeInvitationToken } from './invitation-link.ts';
import { installFakeStorage } from './testing/browser-storage.ts';

const token = `inv_${'aB3-_'.repeat(8)}xyz`;
let address: { hash: string };

/** Opens an address as the browser does: `history.replaceState` changes what `location` says. */
function open(hash: string): void {
  address = { hash };
  Object.defineProperty(globalThis, 'location', { value: address, configurable: true });
  const replaceState = (_state: unknown, _title: string, path: string) => void (address.hash = path.includes('#') ? path : '');
  Object.defineProperty(globalThis, 'history', { value: { replaceState }, configurable: true });
}

test('the token is read once and removed from the address bar; a reload finds it, a new tab does not', () => {
  const { newTab } = installFakeStorage();
  open(`#${token}`);
  expect([takeInvitationToken(), address.hash]).toEqual([token, '']);
  expect(takeInvitationToken()).toBe(token);
  newTab();
  expect(takeInvitationToken()).toBeUndefined();
});

test('the token is never in local storage', () => {
  installFakeStorage();
  const written: string[] = [];
  const setItem = (_name: string, value: string) => void written.push(value);
  Object.defineProperty(globalThis, 'localStorage', { value: { setItem, getItem: () => null }, configurable: true });
  open(`#${token}`);
  takeInvitationToken();
  expect(written).toEqual([]);
});

test.each(['#inv_short', `#${token}x`, `#${token}&a=b`, '#content'])(
  'the damaged link %s opens no invitation, and not the one before it either',
  (hash) => {
    installFakeStorage();
    open(`#${token}`);
    takeInvitationToken();
    open(hash);
    expect([takeInvitationToken(), address.hash]).toEqual([undefined, '']);
  },
);

test('a second link in the same tab replaces the first', () => {
  installFakeStorage();
  const second = `inv_${'z'.repeat(43)}`;
  open(`#${token}`);
  takeInvitationToken();
  open(`#${second}`);
  expect(takeInvitationToken()).toBe(second);
});
