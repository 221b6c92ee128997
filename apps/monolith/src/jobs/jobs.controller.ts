import {
  jobAnswer,
  jobCountsAnswer,
  jobCursor,
  jobId,
  jobListAnswer,
  jobQuery,
  positionInCursor,
  retriedJobsAnswer,
  retryJobsRequest,
} from '#contracts/jobs';
import { masked, maskedText } from '#domain/notification/masked';
import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { Answers } from '#platform/idempotency/answers';
import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { AllQueues } from './all-queues.ts';
import { ManageJobs } from './manage-jobs.ts';
import type { JobView } from './jobs.api.ts';

@ApiTags('operations')
@Controller('api/v1/ops/jobs')
export class JobsController {
  constructor(
    private readonly queues: AllQueues,
    private readonly manageJobs: ManageJobs,
    private readonly answers: Answers,
  ) {}

  @Get()
  @Endpoint({ operationId: 'listJobs', access: 'ops:read', audited: 'job' })
  @ApiOperation({
    summary: 'Mails, pushes, background jobs and parked messages, newest first; state `failed` is the dead letter',
    description: 'Payloads are masked. Use `q` to find everything about one order, fan or match.',
  })
  @ApiOkResponse({ standardSchema: jobListAnswer })
  async list(@Query({ schema: jobQuery }) query: z.output<typeof jobQuery>): Promise<z.infer<typeof jobListAnswer>> {
    const { state, queue, template, q: text, cursor, limit } = query;
    const after = cursor === undefined ? undefined : positionInCursor(cursor);
    const { jobs, next } = await this.queues.list.page({ state, queue, template, text, after }, limit);
    return { items: jobs.map(jobView), next_cursor: next ? jobCursor(next) : null };
  }

  @Get('counts')
  @Endpoint({ operationId: 'countJobs', access: 'ops:read' })
  @ApiOperation({
    summary: 'How many jobs each queue has in each state',
    description: 'With the age of the oldest job that waits. The queue `outbox` has the parked messages.',
  })
  @ApiOkResponse({ standardSchema: jobCountsAnswer })
  async counts(): Promise<z.infer<typeof jobCountsAnswer>> {
    const counts = await this.queues.counts();
    return {
      items: counts.map(({ oldestWaitingSeconds, ...states }) => ({ ...states, oldest_waiting_seconds: oldestWaitingSeconds })),
    };
  }

  @Post('retry')
  @Endpoint({ operationId: 'retryJobs', access: 'ops:sale', audited: 'job' })
  @ApiOperation({
    summary: 'Retry all failed jobs that match the filters; each gets all its attempts again',
    description: 'Without filters all failed jobs and parked messages. With `dry_run` they are only counted.',
  })
  @ApiOkResponse({ standardSchema: retriedJobsAnswer })
  retryAll(
    @Caller() { userId }: CallerIdentity,
    @Body({ schema: retryJobsRequest }) body: z.output<typeof retryJobsRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { queue, template, q: text, dry_run: dryRun } = body;
    return this.answers.give(
      reply,
      () => this.manageJobs.retryAll({ filter: { queue, template, text }, dryRun, by: userId }),
      (count): { status: number; body: z.infer<typeof retriedJobsAnswer> } => ({ status: 200, body: { count } }),
    );
  }

  @Post(':job_id/retry')
  @Endpoint({
    operationId: 'retryJob',
    access: 'ops:sale',
    audited: 'job',
    body: 'none',
    refusals: ['NOT_FOUND', 'INVALID_STATE'],
  })
  @ApiOperation({
    summary: 'Retry a failed job; it gets all its attempts again',
    description: 'Only a failed job or a parked message can be retried; any other is 409 `INVALID_STATE`.',
  })
  @ApiOkResponse({ standardSchema: jobAnswer })
  retry(
    @Caller() { userId }: CallerIdentity,
    @Param('job_id', { schema: jobId }) id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answers.give(
      reply,
      () => this.manageJobs.retry({ id, by: userId }),
      (job) => ({ status: 200, body: jobView(job) }),
    );
  }

  @Delete(':job_id')
  @Endpoint({
    operationId: 'dropJob',
    access: 'ops:sale',
    audited: 'job',
    status: 204,
    body: 'none',
    refusals: ['NOT_FOUND', 'INVALID_STATE'],
  })
  @ApiOperation({
    summary: 'Drop a waiting or failed job, or a parked message',
    description: 'The job never runs again. A running or a completed job is 409 `INVALID_STATE`.',
  })
  @ApiNoContentResponse()
  async drop(@Caller() { userId }: CallerIdentity, @Param('job_id', { schema: jobId }) id: string): Promise<void> {
    await this.manageJobs.drop({ id, by: userId });
  }
}

/** A job in the format of the API. Addresses, names, tokens and codes are masked. */
function jobView(job: JobView): z.infer<typeof jobAnswer> {
  return {
    id: job.id,
    queue: job.queue,
    template: job.template,
    state: job.state,
    attempts: job.attempts.map(({ at, error }) => ({ at, error: maskedText(error) })),
    created_at: job.createdAt.toISOString(),
    transport: job.transport,
    payload: masked(job.payload),
    interventions: job.interventions.map(({ action, by, at }) => ({ action, by, at: at.toISOString() })),
  };
}
