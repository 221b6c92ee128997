import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Endpoint } from '#platform/http/endpoint';
import { RequestRefused } from '#platform/http/request-refused';
import { limitedAddress } from '#platform/limits/client-address';
import { NewConnections } from '../application/new-connections.ts';
import { ConnectionBudget, jitteredRetryAfter } from './connection-budget.ts';
import { nowMs, Pod } from './pod.ts';
import { StreamDevice } from './stream-device.ts';
import { refuseWhenFull } from './upgrade-adapter.ts';

/** The event stream of a fan, for networks that block WebSockets. */
@ApiTags('waiting room')
@Controller('sse')
export class FanStreamController {
  constructor(
    private readonly connections: NewConnections,
    private readonly budget: ConnectionBudget,
    private readonly pod: Pod,
  ) {}

  @Get(':queue_token')
  @Endpoint({ operationId: 'streamQueueMessages', access: 'public', refusals: ['NOT_FOUND'] })
  @ApiOperation({
    summary: 'The messages of the socket as server-sent events',
    description:
      'For networks that block WebSockets: the same messages as `/ws/{queue_token}`, unnamed events with one JSON object each. The token is the credential. A sixth connection of a fan is 429.',
  })
  @ApiProduces('text/event-stream')
  @ApiOkResponse({ schema: { type: 'string' }, description: 'A stream that ends when the queue entry or turn ends' })
  async open(@Param('queue_token') token: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const address = limitedAddress(request.ip);
    refuseWhenFull(this.budget, address);
    const id = this.pod.newDeviceId();
    const outcome = await this.connections.connectStream(
      token,
      { id, open: () => this.start(id, address, request, reply) },
      nowMs(),
    );
    if (outcome === 'no_entry') throw new RequestRefused('NOT_FOUND', { detail: 'This token has ended or was never issued.' });
    if (outcome === 'too_many') {
      throw new RequestRefused('RATE_LIMITED', { detail: 'Five devices are connected already.', headers: jitteredRetryAfter() });
    }
  }

  private start(id: string, address: string, request: FastifyRequest, reply: FastifyReply): StreamDevice | undefined {
    // Other connections may have filled the pod while the token was read.
    refuseWhenFull(this.budget, address);
    const ofAddress = this.budget.take(address);
    const device = StreamDevice.open(id, request, reply, (closed) => {
      this.budget.streams.delete(closed);
      this.budget.giveBack(ofAddress);
      this.connections.disconnect(closed);
    });
    if (device) this.budget.streams.add(device);
    else this.budget.giveBack(ofAddress);
    return device;
  }
}
