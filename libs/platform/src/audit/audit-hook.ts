import { rolesWith } from '#contracts/roles';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import type { DataSource } from 'typeorm';
import type { EndpointRules } from '../http/endpoint.ts';
import { rulesOf } from '../http/route-rules.ts';
import { isUuid } from '../http/token-claims.ts';
import type { CurrentAct } from '../logging/request-context.ts';
import { addRead } from './audit-rows.ts';

const READS = new Set(['GET', 'HEAD']);

/**
 * Records calls of operators and partners (CONTRACT §14). A call that writes gets its row from the transaction manager, in the
 * transaction of its effect. A read gets it here, after it has succeeded and before its answer is sent; if the row cannot be written,
 * the answer is an error. Refused calls, dry runs and replays run no transaction and have no row.
 */
export function recordActs(fastify: FastifyInstance, dataSource: DataSource): void {
  fastify.addHook('onRoute', requireAuditRule);
  fastify.addHook('preValidation', (request, _reply, done) => {
    const { audited, operationId } = rulesOf(request);
    if (audited && operationId && request.context && !READS.has(request.method))
      request.context.act = actOf(request, { audited, operationId });
    done();
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const { audited, operationId } = rulesOf(request);
    const isRead = audited && operationId && READS.has(request.method);
    if (!isRead || !request.caller || reply.statusCode < 200 || reply.statusCode >= 300) return done(null, payload);
    addRead(dataSource, actOf(request, { audited, operationId })).then(
      () => done(null, payload),
      (error: unknown) => done(error as Error),
    );
  });
}

/** Every write of operators and partners is recorded, or declares why not. Otherwise the service does not start. */
function requireAuditRule({ method, url, config }: RouteOptions): void {
  const { access = 'public', audited, notAuditedBecause, operationId } = (config ?? {}) as Partial<EndpointRules>;
  const isWrite = ![method].flat().every((each) => READS.has(each));
  const isOfStaff = rolesWith(access) !== undefined && access !== 'gate';
  if (audited && !operationId)
    throw new Error(`${url} is audited, but has no operationId, which is the action in the audit log.`);
  if (isWrite && isOfStaff && !audited && !notAuditedBecause)
    throw new Error(
      `${String(method)} ${url} does not declare what the audit log says about it: add audited, or notAuditedBecause.`,
    );
}

function actOf(request: FastifyRequest, { audited, operationId }: { audited: string; operationId: string }): CurrentAct {
  const { caller, id: requestId, ip: address } = request;
  if (!caller) throw new Error('an audited route without a caller');
  const [given = null] = Object.values(request.params as Readonly<Record<string, string>>);
  // The validated parameter, which the handler uses, is in lower case too.
  const id = isUuid(given) ? given.toLowerCase() : given;
  return {
    action: operationId,
    actor: caller.userId,
    roles: caller.roles,
    target: targetOf(request, audited, id),
    requestId,
    address,
  };
}

/** The object in the path. A list is about the fan or match by which it is filtered, else about no object. */
function targetOf({ query }: FastifyRequest, type: string, id: string | null): CurrentAct['target'] {
  const { user_id: userId, match_id: matchId } = (query ?? {}) as Readonly<Record<string, unknown>>;
  if (id !== null) return { type, id };
  if (typeof userId === 'string') return { type: 'fan', id: userId };
  return typeof matchId === 'string' ? { type: 'match', id: matchId } : { type, id: null };
}
