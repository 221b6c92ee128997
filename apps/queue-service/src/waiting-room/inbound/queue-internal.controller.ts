import { Body, Controller, Param, Post, Put, Res } from '@nestjs/common';
import { ApiNoContentResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { z } from 'zod';
import type { FastifyReply } from 'fastify';
import {
  controlRequest,
  restoreRequest,
  soldOutRequest,
  STATE_NEEDED_HEADER,
  type ControlRequest,
  type RestoreRequest,
  type SoldOutRequest,
} from '#contracts/waiting-room-control';
import { Endpoint } from '#platform/http/endpoint';
import { ChangeQueue } from '../application/change-queue.ts';
import { StateNeeded, WaitingLines } from '../application/ports.ts';
import { AdmissionSchedule } from './admission.schedule.ts';
import { completeRequest, userParameter } from '#contracts/waiting-room';
import { MatchId } from './match-id.ts';

const REPEATABLE = 'internal: repeating it changes nothing';

/** The internal endpoints that the monolith calls to control the waiting room. The ingress does not route requests to them. */
@ApiTags('internal')
@Controller('api/v1/queue/:match_id')
export class QueueInternalController {
  constructor(
    private readonly changeQueue: ChangeQueue,
    private readonly lines: WaitingLines,
    private readonly admission: AdmissionSchedule,
  ) {}

  @Put('control')
  @Endpoint({ operationId: 'controlQueue', access: 'internal', status: 204, noKeyBecause: REPEATABLE })
  @ApiOperation({
    summary: 'Create or change a queue; omitted fields keep their value',
    description: `If the answer has the header \`${STATE_NEEDED_HEADER}: true\`, fans get 503 until the state of the match is restored.`,
  })
  @ApiNoContentResponse()
  async control(
    @MatchId() matchId: string,
    @Body({ schema: controlRequest }) body: ControlRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const { isKnown } = await this.changeQueue.control(matchId, body);
    if (!isKnown) void reply.header(STATE_NEEDED_HEADER, 'true');
    this.admission.runSoon(matchId);
  }

  @Put('restore')
  @Endpoint({
    operationId: 'restoreQueue',
    access: 'internal',
    status: 204,
    noKeyBecause: REPEATABLE,
    refusals: ['INVALID_STATE'],
  })
  @ApiOperation({
    summary:
      'Send the state of a match that Redis does not know: after a loss of Redis, and before the first control of a new match',
    description:
      'Sent in parts of at most 256 KB with the same generation. The last part has `complete`; after it fans are served. 409 `INVALID_STATE`: a part is missing, start again with part 0. `exists: false`: the match has no waiting room; this is kept for 60 s.',
  })
  @ApiNoContentResponse()
  async restore(@MatchId() matchId: string, @Body({ schema: restoreRequest }) body: RestoreRequest): Promise<void> {
    await this.changeQueue.restore(matchId, body);
    this.admission.runSoon(matchId);
  }

  @Post('sold-out')
  @Endpoint({ operationId: 'reportSoldOut', access: 'internal', status: 204, noKeyBecause: REPEATABLE })
  @ApiOperation({
    summary: 'Report the remaining sectors; an empty list closes the line',
    description:
      'Waiting fans are told the sectors. A report with a smaller `as_of` than an earlier one is answered 204 and ignored.',
  })
  @ApiNoContentResponse()
  async soldOut(@MatchId() matchId: string, @Body({ schema: soldOutRequest }) body: SoldOutRequest): Promise<void> {
    await this.changeQueue.reportRemaining(matchId, body.remaining_sectors, body.as_of);
    this.admission.runSoon(matchId);
  }

  @Post('windows/:user_id/complete')
  @Endpoint({ operationId: 'completeWindow', access: 'internal', status: 204, noKeyBecause: REPEATABLE })
  @ApiOperation({
    summary: 'The purchase is done; the window ends and the next fan moves up',
    description: `If the answer has the header \`${STATE_NEEDED_HEADER}: true\`, nothing was done: the window may still be restored. Call again.`,
  })
  @ApiNoContentResponse()
  async complete(
    @MatchId() matchId: string,
    @Param('user_id', { schema: userParameter }) userId: string,
    @Body({ schema: completeRequest }) body: z.output<typeof completeRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    try {
      await this.lines.completeWindow(matchId, userId, body?.session_token);
    } catch (error) {
      if (!(error instanceof StateNeeded)) throw error;
      void reply.header(STATE_NEEDED_HEADER, 'true');
    }
    this.admission.runSoon(matchId);
  }
}
