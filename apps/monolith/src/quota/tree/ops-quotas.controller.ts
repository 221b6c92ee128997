import * as schemas from '#contracts/quotas';
import { pageQuery } from '#contracts/paging';
import { uuidField } from '#contracts/text-fields';
import { DomainError } from '#domain/shared/domain-error';
import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { decodeCursor, page } from '#platform/http/paging';
import { Answers } from '#platform/idempotency/answers';
import { Body, Controller, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { CatalogApi } from '../../catalog/catalog.api.ts';
import { ChangeQuota } from './change-quota.ts';
import { CreateQuota, type CreateQuotaCommand } from './create-quota.ts';
import { PostgresQuotas } from './postgres-quotas.ts';
import { newQuotaView, QuotaViews } from './quota-views.ts';
import type { QuotaSettings } from './quota.ts';

const CREATE = `Moves places from the parent, or from the public, to the new quota: all of them or none. To the public its free places are
\`blocked\`. With \`dry_run\` the answer is 200 with the places that would be taken, by rows and ranges, and the number of single
seats that would be left; nothing is taken.`;

/** Operators create, read and change quotas. */
@ApiTags('quotas')
@Controller('api/v1/ops')
export class OpsQuotasController {
  constructor(
    private readonly createQuota: CreateQuota,
    private readonly changeQuota: ChangeQuota,
    private readonly quotas: PostgresQuotas,
    private readonly views: QuotaViews,
    private readonly catalog: CatalogApi,
    private readonly answers: Answers,
  ) {}

  @Post('matches/:id/quotas')
  @Endpoint({
    operationId: 'createQuota',
    access: 'ops:sale',
    audited: 'match',
    takesLists: true,
    refusals: ['NOT_FOUND', 'QUOTA_EXCEEDED', 'MOVE_REFUSED', 'INVALID_STATE'],
  })
  @ApiOperation({ summary: 'Set places aside for an owner', description: CREATE })
  @ApiCreatedResponse({ standardSchema: schemas.quotaAnswer })
  @ApiOkResponse({ standardSchema: schemas.plannedPlacesAnswer })
  async create(
    @Caller() { userId }: CallerIdentity,
    @Param('id', { schema: uuidField }) matchId: string,
    @Body({ schema: schemas.createQuotaRequest }) body: z.output<typeof schemas.createQuotaRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const command = createQuotaCommandOf(body, { matchId, actor: userId });
    if (body.dry_run) {
      const planned = () => this.createQuota.plan(command);
      return this.answers.give(reply, planned, (plan) => ({ status: 200, body: plan }));
    }
    return this.answers.give(
      reply,
      () => this.createQuota.execute(command),
      ({ quota, sectors }) => ({
        status: 201,
        location: `/api/v1/ops/quotas/${quota.id}`,
        body: newQuotaView(quota, sectors),
      }),
    );
  }

  @Get('matches/:id/quotas')
  @Endpoint({ operationId: 'listOpsQuotas', access: 'ops:read', refusals: ['NOT_FOUND'] })
  @ApiOperation({
    summary: 'The quotas of a match as a flat list, parents before their children',
    description:
      '`parent_id` gives the tree. The numbers of `places` are those of the quota alone, those of `subtree` include its descendants.',
  })
  @ApiOkResponse({ standardSchema: schemas.quotaListAnswer })
  async list(
    @Param('id', { schema: uuidField }) matchId: string,
    @Query({ schema: pageQuery }) { limit, cursor }: z.output<typeof pageQuery>,
  ): Promise<z.infer<typeof schemas.quotaListAnswer>> {
    if (!(await this.catalog.match(matchId))) throw new DomainError('NOT_FOUND', 'There is no such match.');
    const quotas = await this.quotas.pageOfMatch(matchId, { after: decodeCursor(cursor), limit: limit + 1 });
    const views = await this.views.of(quotas);
    return page(
      views,
      limit,
      (view) => view,
      ({ id }) => id,
    );
  }

  @Get('quotas/:id')
  @Endpoint({ operationId: 'getOpsQuota', access: 'ops:read', refusals: ['NOT_FOUND'] })
  @ApiOperation({ summary: 'One quota and the numbers of its places', description: 'The quota of any match, with its settings.' })
  @ApiOkResponse({ standardSchema: schemas.quotaAnswer })
  async one(@Param('id', { schema: uuidField }) id: string): Promise<schemas.Quota> {
    const quota = await this.quotas.ofMember(id, undefined);
    if (!quota) throw new DomainError('NOT_FOUND', 'There is no such quota.');
    return this.views.one(quota);
  }

  @Patch('quotas/:id')
  @Endpoint({
    operationId: 'changeQuota',
    access: 'ops:sale',
    audited: 'quota',
    takesLists: true,
    refusals: ['NOT_FOUND', 'INVALID_STATE'],
  })
  @ApiOperation({
    summary: 'Change the settings of a quota; its places change only by moves',
    description: 'Omitted fields keep their value.',
  })
  @ApiOkResponse({ standardSchema: schemas.quotaAnswer })
  change(
    @Param('id', { schema: uuidField }) quotaId: string,
    @Body({ schema: schemas.changeQuotaRequest }) body: z.output<typeof schemas.changeQuotaRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const change = settingsOf(body);
    return this.answers.give(
      reply,
      () => this.changeQuota.execute({ quotaId, change }),
      (quota) => ({ status: 200, body: quota }),
    );
  }
}

const dateOf = (time: string | null | undefined): Date | null => (time ? new Date(time) : null);

/** The settings that a request gives. */
function settingsOf(body: z.output<typeof schemas.changeQuotaRequest>): Partial<QuotaSettings> {
  const given: { [Name in keyof QuotaSettings]: QuotaSettings[Name] | undefined } = {
    name: body.name,
    members: body.members,
    contactEmail: body.contact_email,
    opensAt: body.opens_at === undefined ? undefined : dateOf(body.opens_at),
    claimUntil: body.claim_until === undefined ? undefined : dateOf(body.claim_until),
    returnAt: body.return_at === undefined ? undefined : dateOf(body.return_at),
    onReturn: body.on_return,
    neverTo: body.never_to,
    priceCents: body.price_cents,
    maxPerInvitation: body.max_per_invitation,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function createQuotaCommandOf(
  body: z.output<typeof schemas.createQuotaRequest>,
  { matchId, actor }: { matchId: string; actor: string },
): CreateQuotaCommand {
  return {
    ...{ matchId, actor, parentId: body.parent_id ?? null, kind: body.kind, places: body.places },
    name: body.name,
    members: body.members,
    contactEmail: body.contact_email ?? null,
    opensAt: dateOf(body.opens_at),
    claimUntil: dateOf(body.claim_until),
    returnAt: dateOf(body.return_at),
    onReturn: body.on_return,
    neverTo: body.never_to,
    priceCents: body.price_cents,
    maxPerInvitation: body.max_per_invitation,
  };
}
