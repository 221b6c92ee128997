import { Param } from '@nestjs/common';
import { matchParameter } from '#contracts/waiting-room';

/** Injects the path parameter `match_id`. */
export const MatchId = (): ParameterDecorator => Param('match_id', { schema: matchParameter });
