/**
 * The addresses of the pages of the web app; `:id` is a UUID. The monolith answers them with the page, also after a reload. Any
 * other address is unknown.
 */
export const pageAddresses = [
  '/',
  '/matches/:id',
  '/matches/:id/checkout',
  '/orders/:id',
  '/tickets',
  '/transfers',
  '/account',
  '/invitation',
  '/quotas',
  '/quotas/:id',
  '/ops',
  '/ops/jobs',
  '/ops/audit',
  '/ops/webhooks',
  '/ops/matches/:id/quotas',
] as const;

const UUID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const patterns = pageAddresses.map((address) => new RegExp(`^${address.replace(':id', UUID)}/?$`, 'i'));

/** True for the path of a page, with or without a slash at its end. */
export function isPageAddress(path: string): boolean {
  return patterns.some((pattern) => pattern.test(path));
}
