import { allocationAnswer } from '#contracts/quotas';
import { uuidField } from '#contracts/text-fields';
import { Endpoint } from '#platform/http/endpoint';
import { NOT_MODIFIED, sendCacheable } from '#platform/http/etag';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ReadAllocation } from './read-allocation.ts';

/** Everybody may see who gets the places of a match. */
@ApiTags('matches')
@Controller('api/v1/matches/:id/allocation')
export class AllocationController {
  constructor(private readonly readAllocation: ReadAllocation) {}

  @Get()
  @Endpoint({ operationId: 'getAllocation', access: 'public', refusals: ['NOT_FOUND'] })
  @ApiOperation({
    summary: 'How many places the public and each kind of quota have; at most a second old',
    description: 'For everybody: one item for each kind of quota, without the names of its owners.',
  })
  @ApiOkResponse({ standardSchema: allocationAnswer })
  @ApiResponse(NOT_MODIFIED)
  async read(
    @Param('id', { schema: uuidField }) matchId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    sendCacheable(request, reply, await this.readAllocation.execute(matchId));
  }
}
