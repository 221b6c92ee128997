// legal
import { Clock } from '#application/clock';
import { cents } from '#domain/shared/money';
import { PurchaseApi } from '../purchase.api.ts';
import { Orders } from './ports.ts';
export const parts = [Clock, cents, PurchaseApi, Orders];
