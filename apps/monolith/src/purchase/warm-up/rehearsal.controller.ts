import { holdBody } from '#contracts/reservations';
import { uuidField } from '#contracts/text-fields';
import { Endpoint } from '#platform/http/endpoint';
import { Answers } from '#platform/idempotency/answers';
import { Body, Controller, Param, Post, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { REHEARSAL_PATH } from './rehearsed-requests.ts';

/** Takes a request like a hold and does nothing. The warm-up sends such requests to its own process. */
@ApiExcludeController()
@Controller(REHEARSAL_PATH)
export class RehearsalController {
  constructor(private readonly answers: Answers) {}

  @Post(':id')
  @Endpoint({ access: 'internal', direct: true, noKeyBecause: 'internal: it changes nothing', unlogged: true })
  rehearse(
    @Param('id', { schema: uuidField }) id: string,
    @Body({ schema: holdBody }) body: z.output<typeof holdBody>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const view = () => ({ status: 201, location: `/${REHEARSAL_PATH}/${id}`, body });
    return this.answers.give(reply, () => Promise.resolve(), view);
  }
}
