import * as schemas from '#contracts/quota-policies';
import { uuidField } from '#contracts/text-fields';
import { Endpoint } from '#platform/http/endpoint';
import { Answers } from '#platform/idempotency/answers';
import { Body, Controller, Get, Param, Post, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { CheckMatchPolicy } from './check-match-policy.ts';
import { listPolicies } from './policy-files.ts';

const CHECK = `The policy is the name of a file in \`policies/\` (docs/concepts/quotas.md). Each breach has the text of its rule and the
article. Nothing is changed.`;

/** Operators check whether the quotas of a match keep the rules of a competition. */
@ApiTags('quotas')
@Controller('api/v1/ops')
export class PoliciesController {
  constructor(
    private readonly checkMatchPolicy: CheckMatchPolicy,
    private readonly answers: Answers,
  ) {}

  @Get('quota-policies')
  @Endpoint({ operationId: 'listPolicies', access: 'ops:read' })
  @ApiOperation({
    summary: 'The policies that the quotas of a match can be checked against',
    description: 'One item for each file in `policies/`, without its rules.',
  })
  @ApiOkResponse({ standardSchema: schemas.policyListAnswer })
  async list(): Promise<z.infer<typeof schemas.policyListAnswer>> {
    return { items: await listPolicies() };
  }

  @Post('matches/:id/quotas/check')
  @Endpoint({
    operationId: 'checkPolicy',
    access: 'ops:sale',
    notAuditedBecause: 'it only reads the quotas of a match',
    refusals: ['NOT_FOUND'],
  })
  @ApiOperation({ summary: 'Check the quotas of a match against a policy', description: CHECK })
  @ApiOkResponse({ standardSchema: schemas.policyCheckAnswer })
  check(
    @Param('id', { schema: uuidField }) matchId: string,
    @Body({ schema: schemas.checkPolicyRequest }) { policy }: z.output<typeof schemas.checkPolicyRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answers.give(
      reply,
      () => this.checkMatchPolicy.execute({ matchId, policy }),
      (body) => ({ status: 200, body }),
    );
  }
}
