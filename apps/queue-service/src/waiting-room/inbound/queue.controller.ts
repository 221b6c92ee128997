import { Body, Controller, Delete, Get, Post, Req, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { limitedAddress } from '#platform/limits/client-address';
import { AwaitState } from './await-state.ts';
import { JoinLine } from '../application/join-line.ts';
import { ReadPosition } from '../application/read-position.ts';
import { WaitingLines } from '../application/ports.ts';
import { AdmissionSchedule } from './admission.schedule.ts';
import { PositionAnswers } from './position-answers.ts';
import { MatchId } from './match-id.ts';
import { joinRequest, positionAnswer, type PositionAnswer } from '#contracts/waiting-room';

/** The endpoints for a fan: join a line, read the position, leave. */
@ApiTags('waiting room')
@Controller('api/v1/queue/:match_id')
export class QueueController {
  constructor(
    private readonly joinLine: JoinLine,
    private readonly readPosition: ReadPosition,
    private readonly lines: WaitingLines,
    private readonly answers: PositionAnswers,
    private readonly admission: AdmissionSchedule,
    private readonly awaitState: AwaitState,
  ) {}

  @Post('join')
  @Endpoint({
    operationId: 'joinQueue',
    access: 'fan',
    noKeyBecause: 'a fan has one entry: joining again finds it',
    direct: true,
    refusals: ['NOT_FOUND', 'BLACKLISTED', 'SALE_NOT_OPEN', 'QUEUE_CLOSED'],
  })
  @ApiOperation({
    summary: 'Join the line, or get the queue entry that the fan already has',
    description:
      'One fan has one place in line on all devices. A `receipt` of an earlier join restores its place after a loss of Redis. Connect to `websocket_url` or `sse_url` for the messages.',
  })
  @ApiCreatedResponse({ standardSchema: positionAnswer })
  @ApiOkResponse({ standardSchema: positionAnswer, description: 'Already in line, or in a turn' })
  async join(
    @MatchId() matchId: string,
    @Body({ schema: joinRequest }) body: z.output<typeof joinRequest>,
    @Caller() caller: CallerIdentity,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const fan = { matchId, userId: caller.userId, address: limitedAddress(request.ip) };
    const { created, entry } = await this.awaitState.run(matchId, () => this.joinLine.execute(fan, body?.receipt));
    this.admission.runSoon(matchId);
    const answer = this.answers.build(matchId, caller.userId, entry);
    if (created) void reply.header('location', `/api/v1/queue/${matchId}/position`);
    void reply.status(created ? 201 : 200).send(answer);
  }

  @Get('position')
  @Endpoint({ operationId: 'getQueuePosition', access: 'fan', status: 200, direct: true, refusals: ['NOT_FOUND'] })
  @ApiOperation({
    summary: 'The position of the calling fan, without joining',
    description:
      '404 if the fan was never in line or has left. After the end, `status` says how it ended for half an hour (`QUEUE_PERSISTENCE_SECONDS`).',
  })
  @ApiOkResponse({ standardSchema: positionAnswer })
  async position(@MatchId() matchId: string, @Caller() caller: CallerIdentity): Promise<PositionAnswer> {
    const entry = await this.awaitState.run(matchId, () => this.readPosition.execute(matchId, caller.userId));
    return this.answers.build(matchId, caller.userId, entry);
  }

  @Delete()
  @Endpoint({ operationId: 'leaveQueue', access: 'fan', status: 204, body: 'none' })
  @ApiOperation({
    summary: 'Leave the line, or give up an open window',
    description: '204 always. An open window is given up too. A later join goes to the end of the line.',
  })
  @ApiNoContentResponse()
  async leave(@MatchId() matchId: string, @Caller() caller: CallerIdentity): Promise<void> {
    await this.awaitState.run(matchId, () => this.lines.leave(matchId, caller.userId));
    this.admission.runSoon(matchId);
  }
}
