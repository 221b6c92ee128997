import { auditPageAnswer, auditQuery, type AuditQuery } from '#contracts/audit';
import { Endpoint } from '#platform/http/endpoint';
import { decodeCursor, page } from '#platform/http/paging';
import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { z } from 'zod';
import { PostgresAuditLog } from './postgres-audit-log.ts';

const READ = `One entry for each successful call of an operator or partner that changed something, written in the transaction of the
change, and for each read of orders, the blacklist, jobs, invitations and this log, written before the answer. Refused calls, dry runs
and repeated keys have none. Reading this log adds an entry too.`;

@ApiTags('operations')
@Controller('api/v1/ops/audit')
export class AuditController {
  constructor(private readonly auditLog: PostgresAuditLog) {}

  @Get()
  @Endpoint({ operationId: 'listAuditLog', access: 'ops', audited: 'audit' })
  @ApiOperation({ summary: 'What operators and partners did, newest first', description: READ })
  @ApiOkResponse({ standardSchema: auditPageAnswer })
  async list(@Query({ schema: auditQuery }) query: AuditQuery): Promise<z.infer<typeof auditPageAnswer>> {
    const { actor, action, target, match_id: matchId, since, until, cursor, limit } = query;
    const entries = await this.auditLog.search({
      ...{ actor: actor ?? null, action: action ?? null, target: target ?? null, matchId: matchId ?? null },
      ...{ since: since ?? null, until: until ?? null, after: decodeCursor(cursor) ?? null, limit: limit + 1 },
    });
    return page(
      entries,
      limit,
      (entry) => entry,
      ({ id }) => id,
    );
  }
}
