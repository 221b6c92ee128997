import type dns from 'node:dns';
import { isPublicAddress, PRIVATE_ADDRESS, publicLookup } from './public-addresses.ts';

test.each([
  ...['0.0.0.0', '10.0.0.1', '100.64.1.1', '127.0.0.1', '127.255.0.9', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
  ...['192.168.1.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '::', '::1', 'fc00::1', 'fd12:3456::1', 'fe80::1', 'ff02::1'],
  ...[
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    '2001:db8::1',
    'not an address',
    '',
  ],
])('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '172.15.0.1',
  '172.32.0.1',
  '100.63.0.1',
  '100.128.0.1',
  '2606:4700::1',
  '2001:4860:4860::8888',
  '::ffff:8.8.8.8',
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

describe('a lookup', () => {
  type Answer = (error: null, addresses: { address: string; family: number }[]) => void;
  const look = (found: string[], all: boolean): Promise<unknown> => {
    const addresses = found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    const resolver = (_name: string, _options: unknown, callback: Answer): void => callback(null, addresses);
    const lookup = publicLookup(resolver as typeof dns.lookup);
    return new Promise((resolve) => lookup('partner.example', { all }, (error, answer) => resolve(error?.code ?? answer)));
  };
  const two = ['8.8.8.8', '2606:4700::1'];

  test('returns public addresses in the form that was asked for', async () => {
    expect([await look(two, false), await look(two, true)]).toEqual([
      '8.8.8.8',
      [
        { address: '8.8.8.8', family: 4 },
        { address: '2606:4700::1', family: 6 },
      ],
    ]);
  });

  test('fails if one of several addresses is private, or if there is none', async () => {
    expect([await look(['8.8.8.8', '10.0.0.1'], true), await look([], true)]).toEqual([PRIVATE_ADDRESS, PRIVATE_ADDRESS]);
  });
});
