import {
  blacklistEntryAnswer,
  blacklistHistoryAnswer,
  blacklistPageAnswer,
  putFanOnBlacklistRequest,
} from '#contracts/blacklist';
import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { pageQuery } from '#contracts/paging';
import { decodeCursor, page } from '#platform/http/paging';
import { uuidField } from '#contracts/text-fields';
import { Answers } from '#platform/idempotency/answers';
import type { Logger } from '#platform/logging/logger';
import { Body, Controller, Delete, Get, Inject, Param, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { LOGGER } from '../tokens.ts';
import { ChangeBlacklist } from './change-blacklist.ts';
import { PostgresBlacklist, type BlacklistChange, type BlacklistEntry } from './postgres-blacklist.ts';

const LIST = `From now on the fan cannot join a line, hold seats, check out or receive a ticket (403 \`BLACKLISTED\`). A fan who is in a
line or has a turn loses it within a second. Existing holds expire as usual. A payment that is in progress is refunded in full. Tickets
bought before stay valid: refund them if they must not be used. 200 if the fan was listed already: reason and \`until\` are replaced.`;

@ApiTags('operations')
@Controller('api/v1/ops/blacklist')
export class BlacklistController {
  constructor(
    private readonly blacklist: PostgresBlacklist,
    private readonly changeBlacklist: ChangeBlacklist,
    private readonly answers: Answers,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Get()
  @Endpoint({ operationId: 'listBlacklist', access: 'ops:read', audited: 'fan' })
  @ApiOperation({
    summary: 'The fans on the blacklist, newest first',
    description: 'Entries whose `until` has passed are not listed.',
  })
  @ApiOkResponse({ standardSchema: blacklistPageAnswer })
  async list(@Query({ schema: pageQuery }) query: z.output<typeof pageQuery>): Promise<z.infer<typeof blacklistPageAnswer>> {
    const listings = await this.blacklist.list({ before: decodeCursor(query.cursor), limit: query.limit + 1 });
    return page(listings, query.limit, blacklistEntryView, ({ id }) => id);
  }

  @Get(':user_id')
  @Endpoint({ operationId: 'getBlacklistEntry', access: 'ops:read', audited: 'fan' })
  @ApiOperation({
    summary: 'The blacklist entry of a fan and its history',
    description: '200 also for a fan who was never listed: then `entry` is null and `history` is empty.',
  })
  @ApiOkResponse({ standardSchema: blacklistHistoryAnswer })
  async one(@Param('user_id', { schema: uuidField }) userId: string): Promise<z.infer<typeof blacklistHistoryAnswer>> {
    return blacklistHistoryView(userId, await this.blacklist.find(userId));
  }

  @Post()
  @Endpoint({ operationId: 'putOnBlacklist', access: 'ops:lists', audited: 'fan' })
  @ApiOperation({ summary: 'Put a fan on the blacklist', description: LIST })
  @ApiCreatedResponse({ standardSchema: blacklistEntryAnswer })
  @ApiOkResponse({ standardSchema: blacklistEntryAnswer, description: 'The fan was listed already' })
  put(
    @Caller() { userId: operator }: CallerIdentity,
    @Body({ schema: putFanOnBlacklistRequest }) body: z.output<typeof putFanOnBlacklistRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { user_id: userId, reason } = body;
    return this.answers.give(
      reply,
      async () => {
        const until = body.until ? new Date(body.until) : null;
        const listed = await this.changeBlacklist.put({ userId, reason, until, by: operator });
        this.logger.info({ user_id: userId, reason, until, operator }, 'put on the blacklist');
        return listed;
      },
      ({ listing, isNew }) => ({
        status: isNew ? 201 : 200,
        ...(isNew ? { location: `/api/v1/ops/blacklist/${userId}` } : {}),
        body: blacklistEntryView(listing),
      }),
    );
  }

  @Delete(':user_id')
  @Endpoint({ operationId: 'takeOffBlacklist', access: 'ops:lists', audited: 'fan', status: 204, body: 'none' })
  @ApiOperation({
    summary: 'Take a fan off the blacklist; 204 also if the fan is not listed',
    description: 'The fan can buy again within a second. The history keeps the change.',
  })
  @ApiNoContentResponse()
  async lift(
    @Caller() { userId: operator }: CallerIdentity,
    @Param('user_id', { schema: uuidField }) userId: string,
  ): Promise<void> {
    const wasListed = await this.changeBlacklist.lift({ userId, by: operator });
    if (wasListed) this.logger.info({ user_id: userId, operator }, 'taken off the blacklist');
  }
}

/** An entry of the blacklist in the format of the API. */
function blacklistEntryView({ userId, reason, until, listedBy, listedAt }: BlacklistEntry): z.infer<typeof blacklistEntryAnswer> {
  return {
    user_id: userId,
    reason,
    until: until?.toISOString() ?? null,
    listed_by: listedBy,
    listed_at: listedAt.toISOString(),
  };
}

/** The entry and the history of a fan, in the format of the API. */
function blacklistHistoryView(
  userId: string,
  found: { listing: BlacklistEntry | undefined; changes: readonly BlacklistChange[] },
): z.infer<typeof blacklistHistoryAnswer> {
  return {
    user_id: userId,
    entry: found.listing ? blacklistEntryView(found.listing) : null,
    history: found.changes.map(({ action, reason, until, by, at }) => ({
      action,
      reason,
      until: until?.toISOString() ?? null,
      by,
      at: at.toISOString(),
    })),
  };
}
