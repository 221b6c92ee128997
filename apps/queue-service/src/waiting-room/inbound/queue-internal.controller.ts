import { Body, Controller, Param, Post, Put } from '@nestjs/common';
import { ApiNoContentResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { z } from 'zod';
import { controlRequest, soldOutRequest, type ControlRequest, type SoldOutRequest } from '#contracts/waiting-room-control';
import { Endpoint } from '#platform/http/endpoint';
import { ChangeQueue } from '../application/change-queue.ts';
import { WaitingLines } from '../application/ports.ts';
import { AdmissionSchedule } from './admission.schedule.ts';
import { completeRequest, matchParameter, userParameter } from './queue.schemas.ts';

const REPEATABLE = 'internal: repeating it changes nothing';

/** What the monolith tells the waiting room. Not routed by the ingress. */
@ApiTags('internal')
@Controller('api/v1/queue/:match_id')
export class QueueInternalController {
  constructor(
    private readonly changeQueue: ChangeQueue,
    private readonly lines: WaitingLines,
    private readonly admission: AdmissionSchedule,
  ) {}

  @Put('control')
  @Endpoint({ access: 'internal', status: 204, noKeyBecause: REPEATABLE })
  @ApiOperation({ summary: 'Create or change a queue; what is left out stays' })
  @ApiNoContentResponse()
  async control(
    @Param('match_id', { schema: matchParameter }) matchId: string,
    @Body({ schema: controlRequest }) body: ControlRequest,
  ): Promise<void> {
    await this.changeQueue.control(matchId, {
      status: body.status,
      opensAt: body.opens_at,
      processingRate: body.processing_rate,
      maxOpenWindows: body.max_open_windows,
      usefulWindows: body.useful_windows,
      reason: body.reason,
    });
    this.admission.soon(matchId);
  }

  @Post('sold-out')
  @Endpoint({ access: 'internal', status: 204, noKeyBecause: REPEATABLE })
  @ApiOperation({ summary: 'What is left; nothing left closes the line' })
  @ApiNoContentResponse()
  async soldOut(
    @Param('match_id', { schema: matchParameter }) matchId: string,
    @Body({ schema: soldOutRequest }) body: SoldOutRequest,
  ): Promise<void> {
    const sectors = body.remaining_sectors.map(({ sector_id, name, available }) => ({ sectorId: sector_id, name, available }));
    await this.changeQueue.reportRemaining(matchId, sectors);
    this.admission.soon(matchId);
  }

  @Post('windows/:user_id/complete')
  @Endpoint({ access: 'internal', status: 204, noKeyBecause: REPEATABLE })
  @ApiOperation({ summary: 'The purchase is done; the window ends and the next fan moves up' })
  @ApiNoContentResponse()
  async complete(
    @Param('match_id', { schema: matchParameter }) matchId: string,
    @Param('user_id', { schema: userParameter }) userId: string,
    @Body({ schema: completeRequest }) body: z.output<typeof completeRequest>,
  ): Promise<void> {
    await this.lines.completeWindow(matchId, userId, body?.session_token);
    this.admission.soon(matchId);
  }
}
