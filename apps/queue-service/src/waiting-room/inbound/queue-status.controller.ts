import { Controller, Get, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { queueStatusAnswer, type QueueStatusAnswer } from '#contracts/waiting-room-control';
import { estimateWait } from '../domain/wait-estimate.ts';
import { hasInternalAuth } from '#platform/http/access-hook';
import { Endpoint } from '#platform/http/endpoint';
import { RequestRefused } from '#platform/http/request-refused';
import { AwaitState } from './await-state.ts';
import { WaitingLines } from '../application/ports.ts';
import { QueueConfig } from './queue-config.ts';
import { MatchId } from './match-id.ts';

/** The endpoint for the public status of a line. */
@ApiTags('waiting room')
@Controller('api/v1/queue/:match_id')
export class QueueStatusController {
  constructor(
    private readonly lines: WaitingLines,
    private readonly awaitState: AwaitState,
    private readonly config: QueueConfig,
  ) {}

  @Get('status')
  @Endpoint({ operationId: 'getQueueStatus', access: 'public', refusals: ['NOT_FOUND'] })
  @ApiOperation({
    summary: 'Status and length of the line',
    description: 'With `X-Internal-Auth` also the numbers of turns. A match without a waiting room is 404.',
  })
  @ApiOkResponse({ standardSchema: queueStatusAnswer })
  async status(@MatchId() matchId: string, @Req() request: FastifyRequest): Promise<QueueStatusAnswer> {
    const isInternal = hasInternalAuth(request, this.config.internalSecrets);
    const read = () => this.lines.readQueue(matchId);
    // An internal call does not wait for the state: the monolith itself sends the state and must not wait for it here.
    const queue = await (isInternal ? read() : this.awaitState.run(matchId, read));
    if (!queue) throw new RequestRefused('NOT_FOUND', { detail: 'This match has no waiting room.' });
    const { status, total, processingRate, openWindows, granted, completed, expired } = queue;
    return {
      status,
      total,
      processing_rate: processingRate,
      // The estimated wait of a fan who joins at the end of the line now.
      estimated_wait_minutes: estimateWait(queue, total + 1, this.config.purchaseWindowMs)?.minutes ?? null,
      ...(isInternal ? { open_windows: openWindows, granted, completed, expired } : {}),
    };
  }
}
