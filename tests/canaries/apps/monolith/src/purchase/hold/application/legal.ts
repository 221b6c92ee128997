// legal
import { Clock } from '#application/clock';
import { cents } from '#domain/shared/money';
import { MatchesForSale } from '../../application/ports.ts';
import { SeatInventory } from '../../availability/application/ports.ts';
import { PurchaseApi } from '../../purchase.api.ts';
import { Orders } from './ports.ts';
export const parts = [Clock, cents, MatchesForSale, SeatInventory, PurchaseApi, Orders];
