import * as schemas from '#contracts/quotas';
import { uuidField } from '#contracts/text-fields';
import { DomainError } from '#domain/shared/domain-error';
import { Caller, type CallerIdentity } from '#platform/http/caller';
import { LOCATION_HEADER } from '#platform/http/documented-headers';
import { Endpoint } from '#platform/http/endpoint';
import { decodeCursor, page } from '#platform/http/paging';
import { Answers } from '#platform/idempotency/answers';
import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { CatalogApi } from '../../catalog/catalog.api.ts';
import { DecideMove } from './decide-move.ts';
import { MovePlaces } from './move-places.ts';
import { moveView, requestView } from './move-views.ts';
import { PostgresMoves } from './postgres-moves.ts';

const MOVE = `Only free places move. A rule (\`never_to\` of the quota or of an ancestor) refuses the move with \`MOVE_REFUSED\`. With
\`override\` the answer is then 202 and \`status: pending\`: the places are bound until another operator approves or rejects the move,
for 24 hours at most.`;

/** Operators move places between quotas, and read the ledger. */
@ApiTags('quotas')
@Controller('api/v1/ops')
export class MovesController {
  constructor(
    private readonly movePlaces: MovePlaces,
    private readonly decideMove: DecideMove,
    private readonly moves: PostgresMoves,
    private readonly catalog: CatalogApi,
    private readonly answers: Answers,
  ) {}

  @Post('quotas/:id/moves')
  @Endpoint({
    operationId: 'movePlaces',
    access: 'ops:sale',
    audited: 'quota',
    takesLists: true,
    refusals: ['NOT_FOUND', 'QUOTA_EXCEEDED', 'MOVE_REFUSED', 'INVALID_STATE'],
  })
  @ApiOperation({ summary: 'Move free places of a quota to another one, or to the public', description: MOVE })
  @ApiCreatedResponse({ standardSchema: schemas.quotaMoveAnswer })
  @ApiAcceptedResponse({ standardSchema: schemas.quotaMoveAnswer, headers: { Location: LOCATION_HEADER } })
  move(
    @Caller() { userId }: CallerIdentity,
    @Param('id', { schema: uuidField }) from: string,
    @Body({ schema: schemas.movePlacesRequest }) body: z.output<typeof schemas.movePlacesRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { to, ...rest } = body;
    const command = { ...rest, from, to: to === 'public' ? null : to, actor: userId };
    return this.answers.give(
      reply,
      () => this.movePlaces.execute(command),
      ({ matchId, move }) => {
        const ledger = `/api/v1/ops/matches/${matchId}/moves`;
        if (move.status === 'pending') return { status: 202, location: `${ledger}?status=pending`, body: move };
        return { status: 201, location: ledger, body: move };
      },
    );
  }

  @Post('moves/:id/approve')
  @Endpoint({
    operationId: 'approveMove',
    access: 'ops:sale',
    audited: 'move',
    body: 'none',
    refusals: ['NOT_FOUND', 'INVALID_STATE'],
  })
  @ApiOperation({
    summary: 'Approve a pending move of another operator: its places move now',
    description: 'The approving operator is another one than the one who asked; the same one is 403 `FORBIDDEN`.',
  })
  @ApiOkResponse({ standardSchema: schemas.quotaMoveAnswer })
  approve(
    @Caller() { userId: by }: CallerIdentity,
    @Param('id', { schema: uuidField }) moveId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answers.give(
      reply,
      () => this.decideMove.approve({ moveId, by }),
      (move) => ({ status: 200, body: move }),
    );
  }

  @Post('moves/:id/reject')
  @Endpoint({
    operationId: 'rejectMove',
    access: 'ops:sale',
    audited: 'move',
    body: 'none',
    refusals: ['NOT_FOUND', 'INVALID_STATE'],
  })
  @ApiOperation({
    summary: 'Reject a pending move of another operator: its places are free in their quota again',
    description: 'A move that was decided or has ended is 409 `INVALID_STATE`.',
  })
  @ApiOkResponse({ standardSchema: schemas.quotaMoveAnswer })
  reject(
    @Caller() { userId: by }: CallerIdentity,
    @Param('id', { schema: uuidField }) moveId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answers.give(
      reply,
      () => this.decideMove.reject({ moveId, by }),
      (move) => ({ status: 200, body: move }),
    );
  }

  @Get('matches/:id/moves')
  @Endpoint({ operationId: 'listMoves', access: 'ops:read', refusals: ['NOT_FOUND'] })
  @ApiOperation({
    summary: 'The ledger: every creation, move and return; or the moves that wait for a second operator',
    description: '`status=pending` lists the moves that wait; without it, the ledger, oldest first.',
  })
  @ApiOkResponse({ standardSchema: schemas.quotaMoveListAnswer })
  async list(
    @Param('id', { schema: uuidField }) matchId: string,
    @Query({ schema: schemas.quotaMoveQuery }) { status, limit, cursor }: z.output<typeof schemas.quotaMoveQuery>,
  ): Promise<z.infer<typeof schemas.quotaMoveListAnswer>> {
    if (!(await this.catalog.match(matchId))) throw new DomainError('NOT_FOUND', 'There is no such match.');
    const request = { after: decodeCursor(cursor), limit: limit + 1 };
    const views =
      status === 'pending'
        ? (await this.moves.pending(matchId, request)).map(requestView)
        : (await this.moves.ledger(matchId, request)).map(moveView);
    return page(
      views,
      limit,
      (view) => view,
      ({ id }) => id,
    );
  }
}
