import { Endpoint } from '#platform/http/endpoint';
import { EventStream } from '#platform/http/event-stream';
import { RequestRefused } from '#platform/http/request-refused';
import { uuidField } from '#contracts/text-fields';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MatchesForSale } from '../../application/sale-ports.ts';
import { SeatViews } from '../application/availability-reader.ts';
import { AvailabilityStreams } from './availability-streams.ts';

@ApiTags('matches')
@Controller('api/v1/matches/:id/availability')
export class AvailabilityController {
  constructor(
    private readonly matches: MatchesForSale,
    private readonly views: SeatViews,
    private readonly streams: AvailabilityStreams,
  ) {}

  @Get()
  @Endpoint({ operationId: 'streamAvailability', access: 'public', refusals: ['NOT_FOUND'] })
  @ApiOperation({
    summary: 'The number of free seats of each sector, as it changes: server-sent events',
    description:
      'Server-sent events without a name, with one JSON object each: `{"type", "version", "sectors": [{"id", "available"}]}`.',
  })
  @ApiProduces('text/event-stream')
  @ApiOkResponse({
    schema: { type: 'string' },
    description:
      'First a `snapshot` of all sectors, then at most once a second a `diff` with the sectors that changed; `version` grows',
  })
  async open(
    @Param('id', { schema: uuidField }) matchId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const sectors = await this.matches.sectors(matchId);
    if (sectors.length === 0) throw new RequestRefused('NOT_FOUND', { detail: 'There is no such match.' });
    const view = await this.views.sectors(matchId);
    const releaseSlot = this.streams.takeSlot(request.ip);
    const stream = EventStream.open(request, reply, (closed) => {
      this.streams.leave(matchId, closed);
      releaseSlot();
    });
    if (stream) this.streams.join(matchId, stream, view);
    else releaseSlot();
  }
}
