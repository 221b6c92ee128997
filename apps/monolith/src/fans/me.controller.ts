import { fanExportAnswer } from '#contracts/fan-export';
import { deviceBody, deviceIdParam, profileAnswer, profileBody } from '#contracts/fans';
import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { Answers } from '#platform/idempotency/answers';
import { Body, Controller, Delete, Get, Param, Put, Res } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import type { z } from 'zod';
import { Devices } from './devices.ts';
import { EraseFan } from './erase-fan.ts';
import { ExportFan } from './export-fan.ts';
import { Profiles } from './profiles.ts';

@ApiTags('me')
@Controller('api/v1/me')
export class MeController {
  constructor(
    private readonly profiles: Profiles,
    private readonly devices: Devices,
    private readonly exportFan: ExportFan,
    private readonly eraseFan: EraseFan,
    private readonly answers: Answers,
  ) {}

  @Get()
  @Endpoint({ operationId: 'getProfile', access: 'fan' })
  @ApiOperation({
    summary: 'My profile',
    description: 'A fan without a profile has one with an e-mail address and a name of null.',
  })
  @ApiOkResponse({ standardSchema: profileAnswer })
  profile(@Caller() { userId }: CallerIdentity): Promise<z.infer<typeof profileAnswer>> {
    return this.profiles.find(userId);
  }

  @Get('export')
  @Endpoint({ operationId: 'exportMe', access: 'fan', writeLimit: true })
  @ApiOperation({
    summary: 'All that is kept about me',
    description:
      'A JSON file. It has no codes of tickets and no tokens, because they are valid for anybody who has them, and not what operators and partners wrote for each other. What else is kept for a short time, and how long: docs/concepts/privacy.md.',
  })
  @ApiOkResponse({ standardSchema: fanExportAnswer })
  async export(@Caller() caller: CallerIdentity, @Res() reply: FastifyReply): Promise<void> {
    await reply
      .type('application/json; charset=utf-8')
      .header('content-disposition', 'attachment; filename="tribina-export.json"')
      .send(Readable.from(this.exportFan.write(caller)));
  }

  @Put()
  @Endpoint({ operationId: 'replaceProfile', access: 'fan', writeLimit: true })
  @ApiOperation({
    summary: 'Change my profile: it is replaced as a whole',
    description: 'No field keeps its old value: send all of them, null for what shall be empty.',
  })
  @ApiOkResponse({ standardSchema: profileAnswer })
  async change(
    @Caller() { userId }: CallerIdentity,
    @Body({ schema: profileBody }) profile: z.output<typeof profileBody>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.answers.give(
      reply,
      () => this.profiles.replace(userId, profile),
      (body) => ({ status: 200, body }),
    );
  }

  @Delete()
  @Endpoint({
    operationId: 'eraseMe',
    access: 'fan',
    writeLimit: true,
    status: 204,
    body: 'none',
    refusals: ['INVALID_STATE'],
  })
  @ApiOperation({
    summary: 'Erase what is kept about me',
    description:
      'Releases my holds, leaves my lines and ends my offers, then erases profile, devices, and the names and addresses in my orders and tickets; within a minute also copies in messages and events. Orders stay for accounting. 409 `INVALID_STATE` while I have a valid ticket for a match to come or a payment is pending. 204 also when nothing is left.',
  })
  @ApiNoContentResponse()
  async erase(@Caller() caller: CallerIdentity): Promise<void> {
    await this.eraseFan.execute(caller);
  }

  @Put('devices/:device_id')
  @Endpoint({ operationId: 'registerDevice', access: 'fan', writeLimit: true, status: 204 })
  @ApiOperation({
    summary: 'Send pushes to this device',
    description:
      'The id is chosen by the app and stays the same on one device. A token that another fan registered moves to this fan.',
  })
  @ApiNoContentResponse()
  async register(
    @Caller() { userId }: CallerIdentity,
    @Param('device_id', { schema: deviceIdParam }) deviceId: string,
    @Body({ schema: deviceBody }) { fcm_token: fcmToken }: z.output<typeof deviceBody>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.answers.give(
      reply,
      () => this.devices.register({ userId, deviceId, fcmToken }),
      () => ({ status: 204 }),
    );
  }

  @Delete('devices/:device_id')
  @Endpoint({ operationId: 'removeDevice', access: 'fan', writeLimit: true, status: 204, body: 'none' })
  @ApiOperation({ summary: 'No more pushes to this device', description: '204 also if the device is not registered.' })
  @ApiNoContentResponse()
  async forget(
    @Caller() { userId }: CallerIdentity,
    @Param('device_id', { schema: deviceIdParam }) deviceId: string,
  ): Promise<void> {
    await this.devices.forget({ userId, deviceId });
  }
}
