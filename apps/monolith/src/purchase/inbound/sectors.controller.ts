import { Endpoint } from '#platform/http/endpoint';
import { sendCacheable, sendTagged } from '#platform/http/etag';
import { RequestRefused } from '#platform/http/request-refused';
import { givenId } from '#platform/http/text-fields';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { MatchesForSale, SeatInventory } from '../application/ports.ts';
import { seatListAnswer, seatView, sectorListAnswer, sectorView } from './sectors.schemas.ts';

@ApiTags('matches')
@Controller('api/v1/matches/:id/sectors')
export class SectorsController {
  constructor(
    private readonly matches: MatchesForSale,
    private readonly inventory: SeatInventory,
  ) {}

  @Get()
  @Endpoint({ access: 'public' })
  @ApiOperation({ summary: 'Sectors with prices and what is free now' })
  @ApiOkResponse({ standardSchema: sectorListAnswer })
  async list(
    @Param('id', { schema: givenId }) matchId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const match = await this.matches.match(matchId);
    if (!match) throw new RequestRefused('NOT_FOUND', { detail: 'There is no such match.' });
    const [sectors, states] = await Promise.all([this.matches.sectors(matchId), this.inventory.states(matchId)]);
    const available = new Map(states.map((state) => [state.sectorId, state.available]));
    sendCacheable(request, reply, {
      items: sectors.map((sector) => sectorView(sector, match.currency, available.get(sector.id) ?? 0)),
    });
  }

  @Get(':sid/seats')
  @Endpoint({ access: 'public' })
  @ApiOperation({ summary: 'Every seat of a sector and whether it is free' })
  @ApiOkResponse({ standardSchema: seatListAnswer })
  async seats(
    @Param('id', { schema: givenId }) matchId: string,
    @Param('sid', { schema: givenId }) sectorId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const sector = await this.matches.sector(sectorId);
    if (sector?.matchId !== matchId) throw new RequestRefused('NOT_FOUND', { detail: 'There is no such sector in this match.' });
    const { version, seats } = await this.inventory.seats(sectorId);
    // The version grows with every commit of the server, so only the seats themselves say whether anything changed here.
    const items = JSON.stringify(sector.kind === 'standing' ? [] : seats.map(seatView));
    const free = seats.filter(({ status }) => status === 'available').length;
    const tag = createHash('sha1').update(`${free}:${items}`).digest('base64url');
    sendTagged(request, reply, `{"version":${version},"items":${items}}`, tag);
  }
}
