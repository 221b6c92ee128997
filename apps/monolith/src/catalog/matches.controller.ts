import { matchAnswer, matchListAnswer, matchQuery, matchView } from '#contracts/matches';
import { Endpoint } from '#platform/http/endpoint';
import { freshnessFor } from '#platform/http/identity';
import { NOT_MODIFIED, sendCacheable } from '#platform/http/etag';
import { decodeCursor, page } from '#platform/http/paging';
import { RequestRefused } from '#platform/http/request-refused';
import { uuidField } from '#contracts/text-fields';
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { CatalogApi } from './catalog.api.ts';

@ApiTags('matches')
@Controller('api/v1/matches')
export class MatchesController {
  constructor(private readonly catalog: CatalogApi) {}

  @Get()
  @Endpoint({ operationId: 'listMatches', access: 'public' })
  @ApiOperation({
    summary: 'Matches by kick-off, or found by their words',
    description:
      'With `q`, the best matches first; without it, the earliest kick-off first. `status` and `q` can be combined. Ask again with the ETag: 304 if nothing changed.',
  })
  @ApiOkResponse({ standardSchema: matchListAnswer })
  @ApiResponse(NOT_MODIFIED)
  async list(
    @Query({ schema: matchQuery }) query: z.output<typeof matchQuery>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { status, q: search } = query;
    const after = decodeCursor(query.cursor);
    const filter = { status, search, after, limit: query.limit + 1 };
    const matches = await this.catalog.shownList(freshnessFor(request.headers), filter);
    sendCacheable(
      request,
      reply,
      page(matches, query.limit, matchView, ({ id }) => id),
    );
  }

  @Get(':id')
  @Endpoint({ operationId: 'getMatch', access: 'public', refusals: ['NOT_FOUND'] })
  @ApiOperation({
    summary: 'One match and the state of its sale',
    description: 'The sale of a match changes while fans read it: ask again with the ETag, or read `…/availability`.',
  })
  @ApiOkResponse({ standardSchema: matchAnswer })
  @ApiResponse(NOT_MODIFIED)
  async one(
    @Param('id', { schema: uuidField }) id: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const match = await this.catalog.shownMatch(freshnessFor(request.headers), id);
    if (!match) throw new RequestRefused('NOT_FOUND', { detail: 'There is no such match.' });
    sendCacheable(request, reply, matchView(match));
  }
}
