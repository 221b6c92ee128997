import { isIP, isIPv6 } from 'node:net';

/** How many requests a /48 network of IPv6 may make, compared with one address. */
export const NETWORK_LIMIT_FACTOR = 10;

/**
 * Returns the address under which the requests of a client are counted. An IPv6 customer owns a whole /64 network, so all
 * addresses of such a network count as one. An IPv4 address written as IPv6 (`::ffff:203.0.113.7`) counts as the IPv4 address.
 */
export function limitedAddress(ip: string): string {
  if (!isIPv6(ip)) return ip;
  const groups = ipv6Groups(ip);
  return mappedIPv4(groups) ?? `${groups.slice(0, 4).join(':')}::/64`;
}

/**
 * Returns the /48 network of an IPv6 address, which has a limit too: many customers own 256 or 65,536 networks of the size /64.
 * Undefined for IPv4.
 */
export function limitedNetwork(ip: string): string | undefined {
  if (!isIPv6(ip)) return undefined;
  const groups = ipv6Groups(ip);
  return mappedIPv4(groups) === undefined ? `${groups.slice(0, 3).join(':')}::/48` : undefined;
}

/**
 * Returns the part of the header X-Forwarded-For that may be used: its addresses, without ports, from the end of the header up to the
 * first entry that is no address. Each proxy adds an entry at the end, so what stands before such an entry is not known to be true.
 */
export function readableForwardedFor(header: string): string {
  const addresses: string[] = [];
  for (const entry of header.split(',').reverse()) {
    const address = addressIn(entry.trim());
    if (address === undefined) break;
    addresses.unshift(address);
  }
  return addresses.join(', ');
}

/** Reads `203.0.113.7`, `203.0.113.7:5678`, `2001:db8::1`, `[2001:db8::1]` and `[2001:db8::1]:5678`. */
function addressIn(entry: string): string | undefined {
  if (isIP(entry) !== 0) return entry;
  const { bracketed, plain } = /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[\d.]+))(?::\d{1,5})?$/.exec(entry)?.groups ?? {};
  if (bracketed !== undefined) return isIPv6(bracketed) ? bracketed : undefined;
  return plain !== undefined && isIP(plain) === 4 ? plain : undefined;
}

/** The eight groups of an IPv6 address as hex numbers without leading zeros. */
function ipv6Groups(ip: string): string[] {
  const [head = '', tail] = ip.split('%')[0]?.split('::') ?? [];
  const left = groupsOf(head);
  const right = groupsOf(tail ?? '');
  const middle = tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...middle, ...right];
}

function groupsOf(text: string): string[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    const [a, b, c, d] = group.split('.').map(Number);
    if (a === undefined || b === undefined || c === undefined || d === undefined) return Number.parseInt(group, 16).toString(16);
    return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)];
  });
}

function mappedIPv4(groups: readonly string[]): string | undefined {
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return undefined;
  return groups
    .slice(6)
    .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
    .join('.');
}
