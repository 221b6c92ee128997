// legal
import { HoldSeats } from '../purchase/hold/application/hold-seats.ts';
import { PurchaseModule } from '../purchase/purchase.module.ts';
export const parts = [HoldSeats, PurchaseModule];
