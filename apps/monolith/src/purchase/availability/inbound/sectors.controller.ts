import { isVersion, seatListAnswer, seatQuery, type Seat, type SeatChanges, type SeatList } from '#contracts/seats';
import { createdSectorView, sectorListAnswer, type Sector } from '#contracts/sectors';
import { Endpoint } from '#platform/http/endpoint';
import { NOT_MODIFIED, sendTagged } from '#platform/http/etag';
import { RequestRefused } from '#platform/http/request-refused';
import { uuidField } from '#contracts/text-fields';
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { type SectorForSale } from '../../application/ports.ts';
import { MatchesForSale } from '../../application/sale-ports.ts';
import { SeatViews, type AvailabilityView, type SeatMapView } from '../application/availability-reader.ts';

interface Page {
  readonly text: string;
  readonly tag: string;
}

/**
 * How many rendered answers to `?since=` are kept for one seat map. Most callers ask for the changes since one of the latest
 * versions; for older versions the answer is rendered for each request.
 */
const MAX_CACHED_CHANGES = 64;

/**
 * Sectors and seats of a match, for any caller. An answer is rendered once for each view of the seats and cached together with the
 * view.
 */
@ApiTags('matches')
@Controller('api/v1/matches/:id/sectors')
export class SectorsController {
  private readonly pages = new WeakMap<AvailabilityView | SeatMapView, Page>();
  /** For each seat map: the rendered changes, by the version or ETag that the caller has. */
  private readonly changes = new WeakMap<SeatMapView, Map<string, string>>();

  constructor(
    private readonly matches: MatchesForSale,
    private readonly views: SeatViews,
  ) {}

  @Get()
  @Endpoint({ operationId: 'listSectors', access: 'public', refusals: ['NOT_FOUND'] })
  @ApiOperation({
    summary: 'Sectors with their prices and numbers of free seats',
    description: 'All sectors at once, without paging. The numbers may be about a second old; a hold decides.',
  })
  @ApiOkResponse({ standardSchema: sectorListAnswer })
  @ApiResponse(NOT_MODIFIED)
  async list(
    @Param('id', { schema: uuidField }) matchId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const sectors = await this.matches.sectors(matchId);
    if (sectors.length === 0) throw new RequestRefused('NOT_FOUND', { detail: 'There is no such match.' });
    const view = await this.views.sectors(matchId);
    this.send(request, reply, view, () => sectorsPage(sectors, view));
  }

  @Get(':sid/seats')
  @Endpoint({ operationId: 'listSeats', access: 'public', refusals: ['NOT_FOUND'] })
  @ApiOperation({
    summary:
      'Every seat of a sector and its status; `version` grows whenever a seat changed. With `since` only the seats that changed',
    description:
      'All seats at once, without paging; a standing sector has `items: []`. Poll with `since` or with the ETag: both cost little.',
  })
  @ApiOkResponse({ standardSchema: seatListAnswer })
  @ApiResponse(NOT_MODIFIED)
  async seats(
    @Param('id', { schema: uuidField }) matchId: string,
    @Param('sid', { schema: uuidField }) sectorId: string,
    @Query({ schema: seatQuery }) { since }: z.output<typeof seatQuery>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const sector = await this.matches.sector(sectorId);
    if (sector?.matchId !== matchId) throw new RequestRefused('NOT_FOUND', { detail: 'There is no such sector in this match.' });
    const view = await this.views.seats(sectorId);
    const changes = since === undefined ? undefined : this.changesSince(since, sector, view);
    if (changes) sendTagged(request, reply, changes, view.tag);
    else this.send(request, reply, view, () => seatsPage(sector, view));
  }

  /**
   * The answer with the changes since the version or ETag `since`, rendered once for all callers who have that state. Undefined
   * when this process does not know it.
   */
  private changesSince(since: string, sector: SectorForSale, view: SeatMapView): string | undefined {
    const cached = this.changes.get(view) ?? new Map<string, string>();
    this.changes.set(view, cached);
    let text = cached.get(since);
    if (text === undefined) {
      const changed = since === String(view.version) || since === view.tag ? [] : view.history.changedSince(since);
      if (changed) text = changesText(since, sector, view, changed);
      if (text !== undefined && cached.size < MAX_CACHED_CHANGES) cached.set(since, text);
    }
    return text;
  }

  private send(request: FastifyRequest, reply: FastifyReply, view: AvailabilityView | SeatMapView, render: () => Page): void {
    let page = this.pages.get(view);
    if (!page) this.pages.set(view, (page = render()));
    sendTagged(request, reply, page.text, page.tag);
  }
}

function sectorsPage(sectors: readonly SectorForSale[], view: AvailabilityView): Page {
  const available = new Map(view.sectors.map((sector) => [sector.sectorId, sector.available]));
  const items = sectors.map((sector): Sector => ({
    ...createdSectorView(sector, sector.currency),
    available: available.get(sector.id) ?? 0,
  }));
  const text = JSON.stringify({ items });
  return { text, tag: createHash('sha1').update(text).digest('base64url') };
}

/** The ETag depends on the seats alone: replicas that read the same seats give them the same ETag, but different versions. */
function seatsPage(sector: SectorForSale, { version, tag, seats }: SeatMapView): Page {
  const listed = sector.kind === 'standing' ? [] : seats;
  const items = listed.map(({ seatId, row, number, x, y, status }): Seat => ({ id: seatId, row, number, x, y, status }));
  return { text: JSON.stringify({ version, items } satisfies SeatList), tag };
}

function changesText(since: string, sector: SectorForSale, { version, seats }: SeatMapView, changed: readonly number[]): string {
  const changedSeats = sector.kind === 'standing' ? [] : changed.flatMap((seatIndex) => seats[seatIndex] ?? []);
  const items = changedSeats.map(({ seatId, status }) => ({ id: seatId, status }));
  return JSON.stringify({ version, since: isVersion(since) ? Number(since) : since, items } satisfies SeatChanges);
}
