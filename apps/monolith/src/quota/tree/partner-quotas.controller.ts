import { pageQuery } from '#contracts/paging';
import * as schemas from '#contracts/quotas';
import { uuidField } from '#contracts/text-fields';
import { DomainError } from '#domain/shared/domain-error';
import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { decodeCursor, page } from '#platform/http/paging';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { z } from 'zod';
import { memberOf } from './member-of.ts';
import { PostgresQuotas } from './postgres-quotas.ts';
import { QuotaViews } from './quota-views.ts';

/** Partners read their quotas: those whose members name them, and the descendants of these. Operators read all of them. */
@ApiTags('quotas')
@Controller('api/v1/quotas')
export class PartnerQuotasController {
  constructor(
    private readonly quotas: PostgresQuotas,
    private readonly views: QuotaViews,
  ) {}

  @Get()
  @Endpoint({ operationId: 'listQuotas', access: 'partner' })
  @ApiOperation({
    summary: 'The quotas that the caller acts for, and their descendants',
    description: 'An operator gets all quotas.',
  })
  @ApiOkResponse({ standardSchema: schemas.quotaListAnswer })
  async list(
    @Caller() caller: CallerIdentity,
    @Query({ schema: pageQuery }) { limit, cursor }: z.output<typeof pageQuery>,
  ): Promise<z.infer<typeof schemas.quotaListAnswer>> {
    const quotas = await this.quotas.pageOfMember(memberOf(caller), { after: decodeCursor(cursor), limit: limit + 1 });
    const views = await this.views.of(quotas);
    return page(
      views,
      limit,
      (view) => view,
      ({ id }) => id,
    );
  }

  @Get(':id')
  @Endpoint({ operationId: 'getQuota', access: 'partner', refusals: ['NOT_FOUND'] })
  @ApiOperation({ summary: 'One of these quotas', description: 'A quota for which the caller does not act is 404.' })
  @ApiOkResponse({ standardSchema: schemas.quotaAnswer })
  async one(@Caller() caller: CallerIdentity, @Param('id', { schema: uuidField }) id: string): Promise<schemas.Quota> {
    const quota = await this.quotas.ofMember(id, memberOf(caller));
    if (!quota) throw new DomainError('NOT_FOUND', 'There is no such quota.');
    return this.views.one(quota);
  }
}
