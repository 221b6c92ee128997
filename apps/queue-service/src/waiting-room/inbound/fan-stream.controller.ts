import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Endpoint } from '#platform/http/endpoint';
import { RequestRefused } from '#platform/http/request-refused';
import { FanUpdates } from '../application/fan-updates.ts';
import { ConnectionBudget, jitteredRetryAfter } from './connection-budget.ts';
import { nowMs, Pod } from './pod.ts';
import { OpenStreams, StreamDevice } from './stream-device.ts';
import { refuseWhenFull } from './upgrade-adapter.ts';

/** The event stream of a fan, for networks that block WebSockets. */
@ApiTags('waiting room')
@Controller('sse')
export class FanStreamController {
  constructor(
    private readonly fanUpdates: FanUpdates,
    private readonly budget: ConnectionBudget,
    private readonly streams: OpenStreams,
    private readonly pod: Pod,
  ) {}

  @Get(':queue_token')
  @Endpoint({ access: 'public', refusals: ['NOT_FOUND'] })
  @ApiOperation({ summary: 'The messages of the socket as server-sent events' })
  @ApiProduces('text/event-stream')
  @ApiOkResponse({ schema: { type: 'string' }, description: 'A stream that ends when the queue entry or turn ends' })
  async open(@Param('queue_token') token: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    refuseWhenFull(this.budget);
    const id = this.pod.newDeviceId();
    const outcome = await this.fanUpdates.connectStream(token, { id, open: () => this.start(id, request, reply) }, nowMs());
    if (outcome === 'no_entry') throw new RequestRefused('NOT_FOUND', { detail: 'This token has ended or was never issued.' });
    if (outcome === 'too_many') {
      throw new RequestRefused('RATE_LIMITED', { detail: 'Five devices are connected already.', headers: jitteredRetryAfter() });
    }
  }

  /** Starts the stream. Undefined for HEAD, which gets only the headers, and for a client that has disconnected. */
  private start(id: string, request: FastifyRequest, reply: FastifyReply): StreamDevice | undefined {
    // Other connections may have filled the pod while the token was read.
    refuseWhenFull(this.budget);
    const headers = { ...reply.getHeaders(), 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
    reply.hijack();
    reply.raw.on('error', () => undefined);
    // The client disconnected while the token was read: no 'close' event will follow.
    if (reply.raw.destroyed) return undefined;
    reply.raw.writeHead(200, headers as Record<string, string>);
    if (request.method === 'HEAD') return void reply.raw.end();

    const device = new StreamDevice(id, reply.raw);
    this.streams.add(device);
    this.budget.streams += 1;
    reply.raw.once('close', () => {
      this.streams.delete(device);
      this.budget.streams -= 1;
      this.fanUpdates.disconnect(device);
    });
    device.start();
    return device;
  }
}
