import { Endpoint } from '#platform/http/endpoint';
import * as schemas from '#contracts/matches';
import { sectorFactsOf } from '#contracts/sectors';
import { decodeCursor, page } from '#platform/http/paging';
import { uuidField } from '#contracts/text-fields';
import { Answers } from '#platform/idempotency/answers';
import { Body, Controller, Get, Param, Patch, Post, Put, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { CatalogApi, type CatalogMatch } from '../catalog/catalog.api.ts';
import { ChangeMatch, type MatchFactsChange } from './change-match.ts';
import { CreateMatch } from './create-match.ts';
import { ReadMatchReport } from './read-match-report.ts';
import type { CreateMatchCommand } from './operations.api.ts';

const CANCEL = `The sale is \`closed\` from now on and cannot be opened again (\`INVALID_STATE\`); the queue closes too. Every ticket holder
gets one mail \`match_changed\` with the reason. After all mails, background jobs refund every completed order once, used tickets too
(\`refund_match\` in /ops/jobs; \`orders.completed\` in the report counts the orders not refunded yet). Holds expire as usual; a
payment for one in the meantime is refunded within a minute or two. Repeating the call is 200, changes nothing and keeps the first
reason.`;

@ApiTags('operations')
@Controller('api/v1/ops/matches')
export class OperationsController {
  constructor(
    private readonly createMatch: CreateMatch,
    private readonly changeMatch: ChangeMatch,
    private readonly readMatchReport: ReadMatchReport,
    private readonly catalog: CatalogApi,
    private readonly answers: Answers,
  ) {}

  @Post()
  @Endpoint({ operationId: 'createMatch', access: 'ops:sale', audited: 'match' })
  @ApiOperation({
    summary: 'Create a match with its sectors and seats',
    description:
      'The places are numbered and laid out in a ring. The sale is `scheduled`; it opens at `opens_at`, or by an operator. A match with `queue_required` also gets its line.',
  })
  @ApiCreatedResponse({ standardSchema: schemas.opsMatchAnswer })
  create(
    @Body({ schema: schemas.createMatchRequest }) body: z.output<typeof schemas.createMatchRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answers.give(
      reply,
      () => this.createMatch.execute(createMatchCommandOf(body)),
      ({ match, sectors }) => ({
        status: 201,
        location: `/api/v1/matches/${match.id}`,
        body: schemas.opsMatchView(match, sectors),
      }),
    );
  }

  @Get()
  @Endpoint({ operationId: 'listOpsMatches', access: 'ops:read' })
  @ApiOperation({
    summary: 'All matches, with the fields that only operators see',
    description: 'As `GET /matches`, with the settings of the waiting room and the reasons that operators gave.',
  })
  @ApiOkResponse({ standardSchema: schemas.opsMatchListAnswer })
  async list(
    @Query({ schema: schemas.opsMatchQuery }) query: z.output<typeof schemas.opsMatchQuery>,
  ): Promise<z.infer<typeof schemas.opsMatchListAnswer>> {
    const { q: search, limit, cursor } = query;
    const filter = { search, after: decodeCursor(cursor), limit: limit + 1 };
    const matches = await this.catalog.shownList('current', filter);
    const view = (match: CatalogMatch) => schemas.opsMatchView(match);
    return page(matches, limit, view, ({ id }) => id);
  }

  @Patch(':id')
  @Endpoint({ operationId: 'changeMatch', access: 'ops:sale', audited: 'match', refusals: ['NOT_FOUND'] })
  @ApiOperation({
    summary: 'Correct the facts of a match',
    description: 'Omitted fields keep their value. Fans with tickets get a mail when kick-off or venue changed.',
  })
  @ApiOkResponse({ standardSchema: schemas.opsMatchAnswer })
  patch(
    @Param('id', { schema: uuidField }) matchId: string,
    @Body({ schema: schemas.changeMatchRequest }) body: z.output<typeof schemas.changeMatchRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { kickoff_at, opens_at, ...rest } = body;
    const change: MatchFactsChange = {
      home: rest.home,
      away: rest.away,
      venue: rest.venue,
      maxTicketsPerFan: rest.max_tickets_per_fan,
      processingRate: rest.processing_rate,
      maxOpenWindows: rest.max_open_windows,
      kickoffAt: kickoff_at === undefined ? undefined : new Date(kickoff_at),
      opensAt: typeof opens_at === 'string' ? new Date(opens_at) : opens_at,
    };
    return this.applyChange(reply, () => this.changeMatch.changeFacts({ matchId, change: onlyGiven(change) }));
  }

  @Post(':id/sale')
  @Endpoint({ operationId: 'changeSale', access: 'ops:sale', audited: 'match', refusals: ['NOT_FOUND', 'INVALID_STATE'] })
  @ApiOperation({
    summary: 'Open, pause, resume or close the sale and its queue',
    description:
      'The same action again is 200 and changes nothing; one that does not fit the status is 409 `INVALID_STATE`. The answer comes after the waiting room has taken the change.',
  })
  @ApiOkResponse({ standardSchema: schemas.opsMatchAnswer })
  sale(
    @Param('id', { schema: uuidField }) matchId: string,
    @Body({ schema: schemas.changeSaleRequest }) body: z.output<typeof schemas.changeSaleRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.applyChange(reply, () =>
      this.changeMatch.changeSale({ matchId, action: body.action, reason: body.reason ?? null }),
    );
  }

  @Post(':id/cancel')
  @Endpoint({ operationId: 'cancelMatch', access: 'ops:money', audited: 'match', refusals: ['NOT_FOUND'] })
  @ApiOperation({
    summary: 'Cancel the match: close its sale for ever, notify all ticket holders, refund all orders',
    description: CANCEL,
  })
  @ApiOkResponse({ standardSchema: schemas.opsMatchAnswer })
  cancel(
    @Param('id', { schema: uuidField }) matchId: string,
    @Body({ schema: schemas.cancelMatchRequest }) { reason }: z.output<typeof schemas.cancelMatchRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.applyChange(reply, () => this.changeMatch.cancelMatch({ matchId, reason }));
  }

  @Put(':id/queue')
  @Endpoint({ operationId: 'changeQueue', access: 'ops:sale', audited: 'match', refusals: ['NOT_FOUND', 'INVALID_STATE'] })
  @ApiOperation({
    summary: 'Change how fast turns are granted and how many windows may be open; in force within a second',
    description: 'Omitted fields keep their value. A match without a waiting room is 409 `INVALID_STATE`.',
  })
  @ApiOkResponse({ standardSchema: schemas.opsMatchAnswer })
  queue(
    @Param('id', { schema: uuidField }) matchId: string,
    @Body({ schema: schemas.changeQueueRequest }) body: z.output<typeof schemas.changeQueueRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { processing_rate, max_open_windows } = body;
    return this.applyChange(reply, () =>
      this.changeMatch.changeQueue({ matchId, processingRate: processing_rate, maxOpenWindows: max_open_windows }),
    );
  }

  @Get(':id/report')
  @Endpoint({ operationId: 'getMatchReport', access: 'ops:read', refusals: ['NOT_FOUND'] })
  @ApiOperation({
    summary: 'Current sales figures of the match',
    description: '`capacity` is always the sum of `available`, `held`, `sold` and `blocked`.',
  })
  @ApiOkResponse({ standardSchema: schemas.matchReportAnswer })
  async report(@Param('id', { schema: uuidField }) matchId: string): Promise<z.infer<typeof schemas.matchReportAnswer>> {
    const { seats, queue } = await this.readMatchReport.execute(matchId);
    const { available, held, sold, blocked, refunded, revenueCents, orders } = seats;
    const { open_windows = 0, granted = 0, completed = 0, expired = 0 } = queue ?? {};
    return {
      capacity: available + held + sold + blocked,
      ...{ available, held, sold, blocked, refunded, revenue_cents: revenueCents, orders },
      queue: queue && { waiting: queue.total, open_windows, granted, completed, expired },
    };
  }

  private applyChange(reply: FastifyReply, command: () => Promise<CatalogMatch>): Promise<void> {
    return this.answers.give(reply, command, (match) => ({ status: 200, body: schemas.opsMatchView(match) }));
  }
}

function onlyGiven(change: MatchFactsChange): MatchFactsChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

/** Converts the body of `POST /ops/matches` to a command. */
function createMatchCommandOf(body: z.output<typeof schemas.createMatchRequest>): CreateMatchCommand {
  return {
    home: body.home,
    away: body.away,
    venue: body.venue,
    kickoffAt: new Date(body.kickoff_at),
    currency: body.currency,
    maxTicketsPerFan: body.max_tickets_per_fan,
    queueRequired: body.queue_required,
    opensAt: body.opens_at ? new Date(body.opens_at) : null,
    processingRate: body.processing_rate,
    maxOpenWindows: body.max_open_windows,
    sectors: body.sectors.map((sector) => ({
      ...sectorFactsOf(sector),
      plan:
        sector.kind === 'seated'
          ? { kind: 'seated', rows: sector.rows, seatsPerRow: sector.seats_per_row }
          : { kind: 'standing', capacity: sector.capacity },
    })),
  };
}
