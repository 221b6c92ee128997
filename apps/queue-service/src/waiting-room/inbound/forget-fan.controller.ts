import { Controller, Delete, Param } from '@nestjs/common';
import { ApiNoContentResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { userParameter } from '#contracts/waiting-room';
import { Endpoint } from '#platform/http/endpoint';
import { ForgetFan } from '../application/forget-fan.ts';

/** The internal endpoint for fans who erase everything. The ingress does not route requests to it. */
@ApiTags('internal')
@Controller('api/v1/queue-fans')
export class ForgetFanController {
  constructor(private readonly forgetFan: ForgetFan) {}

  @Delete(':user_id')
  @Endpoint({ operationId: 'forgetFan', access: 'internal', status: 204, body: 'none' })
  @ApiOperation({
    summary: 'Take a fan out of all lines and end all turns of the fan',
    description:
      '204 also if the fan is in no line. 503 `DEPENDENCY_UNAVAILABLE` while the state of a match must be restored: call again.',
  })
  @ApiNoContentResponse()
  async forget(@Param('user_id', { schema: userParameter }) userId: string): Promise<void> {
    await this.forgetFan.execute(userId);
  }
}
