// legal
import { SeatInventory } from '../availability/application/ports.ts';
import { SeatViews } from '../availability/application/availability-reader.ts';
import { PostgresSeats } from '../availability/outbound/postgres-seats.ts';
export const parts = [SeatInventory, SeatViews, PostgresSeats];
