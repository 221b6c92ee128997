import dns from 'node:dns';
import { isPublicAddress, lookUpPublic, PRIVATE_ADDRESS } from './public-addresses.ts';

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
  const answering = (addresses: string[]) =>
    jest.spyOn(dns, 'lookup').mockImplementation(((_name: string, _options: unknown, callback: (...given: unknown[]) => void) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )) as never);
  const look = (all: boolean): Promise<unknown> =>
    new Promise((resolve) => lookUpPublic('partner.example', { all }, (error, found) => resolve(error?.code ?? found)));
  afterEach(() => jest.restoreAllMocks());

  test('returns public addresses in the form that was asked for', async () => {
    answering(['8.8.8.8', '2606:4700::1']);
    expect([await look(false), await look(true)]).toEqual([
      '8.8.8.8',
      [
        { address: '8.8.8.8', family: 4 },
        { address: '2606:4700::1', family: 6 },
      ],
    ]);
  });

  test('fails if one of several addresses is private, or if there is none', async () => {
    answering(['8.8.8.8', '10.0.0.1']);
    expect(await look(true)).toBe(PRIVATE_ADDRESS);
    answering([]);
    expect(await look(true)).toBe(PRIVATE_ADDRESS);
  });
});
