import { rolesWith } from '#contracts/roles';
import type { FastifyInstance, FastifyRequest, onSendAsyncHookHandler, preValidationHookHandler, RouteOptions } from 'fastify';
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
 * the answer is an error. Refused calls, dry runs and replays run no transaction and have no row. The hooks belong to the audited routes
 * alone, so a call of a fan pays nothing for them.
 */
export function recordActs(fastify: FastifyInstance, dataSource: DataSource): void {
  const addReadBeforeAnswer: onSendAsyncHookHandler = async (request, { statusCode }) => {
    if (request.caller && statusCode >= 200 && statusCode < 300) await addRead(dataSource, actOf(request));
  };
  fastify.addHook('onRoute', (route) => {
    requireAuditRule(route);
    if (!route.config?.audited) return;
    const isRead = [route.method].flat().every((method) => READS.has(method));
    if (isRead) route.onSend = [route.onSend ?? [], addReadBeforeAnswer].flat();
    else route.preValidation = [route.preValidation ?? [], beginAct].flat();
  });
}

/** Runs after the idempotency hook, which answers a repeated key before. */
const beginAct: preValidationHookHandler = (request, _reply, done) => {
  if (request.context) request.context.act = actOf(request);
  done();
};

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

function actOf(request: FastifyRequest): CurrentAct {
  const { caller, id: requestId, ip: address } = request;
  const { audited, operationId } = rulesOf(request);
  if (!caller || !audited || !operationId) throw new Error('an audited route without a caller or an operationId');
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
