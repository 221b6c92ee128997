import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { BlockList, isIP } from 'node:net';

/** Addresses that are not on the public internet: our own machines and networks, and addresses for special purposes. */
const privateRanges: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 128],
  ['::1', 128],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
];

const privateAddresses = new BlockList();
for (const [network, prefix] of privateRanges) privateAddresses.addSubnet(network, prefix, isIP(network) === 6 ? 'ipv6' : 'ipv4');

/** The error code of a connection that was refused because its address is not public. */
export const PRIVATE_ADDRESS = 'PRIVATE_ADDRESS';

/** True for an IP address that is on the public internet. An IPv4 address that is written as IPv6 is checked as IPv4. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !privateAddresses.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** The IP address that a host of a URL is; undefined for a name. */
export function addressIn(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 ? undefined : bare;
}

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/**
 * Returns a function that resolves a name for a connection, and fails if one of its addresses is not public. The connection goes to the
 * addresses that were checked, so a name that resolves differently a moment later gains nothing.
 */
export function publicLookup(resolve: typeof dns.lookup = dns.lookup) {
  return (hostname: string, options: LookupOptions, callback: LookupCallback): void => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? privateAddress(hostname), []);
      if (!addresses.every(({ address }) => isPublicAddress(address))) return callback(privateAddress(hostname), []);
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

export function privateAddress(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has an address that is not public`), { code: PRIVATE_ADDRESS });
}
