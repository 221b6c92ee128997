import { fastify, type FastifyContextConfig } from 'fastify';
import type { DataSource } from 'typeorm';
import { recordActs } from './audit-hook.ts';

function register(method: string, config: FastifyContextConfig): void {
  const server = fastify();
  recordActs(server, {} as DataSource);
  server.route({ method, url: '/ops/things', config, handler: () => 'ok' });
}

test.each<[string, string, FastifyContextConfig]>([
  ['a write of operators without a declaration', 'POST', { access: 'ops:sale' }],
  ['a write of partners without a declaration', 'DELETE', { access: 'partner' }],
  ['an audited route without an operationId', 'POST', { access: 'ops', audited: 'match' }],
])('the service does not start with %s', (_, method, config) => {
  expect(() => register(method, config)).toThrow('/ops/things');
});

test.each<[string, string, FastifyContextConfig]>([
  ['an audited write', 'POST', { access: 'ops:sale', audited: 'match', operationId: 'changeThing' }],
  ['a write that says why it is not audited', 'POST', { access: 'ops:sale', notAuditedBecause: 'test' }],
  ['a read of operators', 'GET', { access: 'ops:read' }],
  ['a write of fans', 'POST', { access: 'fan' }],
  ['a write of a steward', 'POST', { access: 'gate' }],
  ['an internal call', 'PUT', { access: 'internal' }],
])('the service starts with %s', (_, method, config) => {
  expect(() => register(method, config)).not.toThrow();
});
