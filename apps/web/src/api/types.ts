// The requests and answers of the API (CONTRACT §5 and §6), with only the fields that the page uses. Other fields are ignored.

/** The state of the sale of one match. */
export type SaleStatus = 'scheduled' | 'open' | 'paused' | 'sold_out' | 'closed';

/** One page of a list, with the cursor of the next page. */
export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

/** A match with the state of its sale. */
export interface Match {
  id: string;
  home: string;
  away: string;
  venue: string;
  kickoff_at: string;
  currency: string;
  sale: { status: SaleStatus; opens_at: string | null; policy: 'fifo' | 'direct' };
  max_tickets_per_fan: number;
  queue_required: boolean;
}

/** A part of the stadium with one price, and how many of its seats are available. */
export interface Sector {
  id: string;
  name: string;
  kind: 'seated' | 'standing';
  gate?: string | null;
  price_cents: number;
  currency: string;
  capacity: number;
  available: number;
}

export type SeatStatus = 'available' | 'held' | 'sold' | 'blocked';

/** A seat of a sector. `x` and `y` are its stadium coordinates. */
export interface Seat {
  id: string;
  row: string;
  number: number;
  x: number | null;
  y: number | null;
  status: SeatStatus;
}

/** All seats of a sector. */
export interface SeatList {
  version: number | string;
  items: Seat[];
}

/** The seats that changed since the version that the page has. */
export interface SeatChanges {
  version: number | string;
  since: number | string;
  items: { id: string; status: SeatStatus }[];
}

/** A message of the availability stream: available seats of all sectors (`snapshot`) or of some (`diff`). */
export interface AvailabilityMessage {
  type: 'snapshot' | 'diff';
  sectors: { id: string; available: number }[];
}

/** How a seat is named for fans. Row and number are null for a standing place. */
export interface SeatLabel {
  seat_id: string;
  sector: string;
  row: string | null;
  number: number | null;
}

/** The seats that are held for a fan, and what became of the hold. */
export interface Reservation {
  id: string;
  status: 'held' | 'ordered' | 'completed' | 'expired' | 'released';
  match_id: string;
  seats: (SeatLabel & { price_cents: number })[];
  together: boolean;
  total_cents: number;
  currency: string;
  expires_at: string;
}

/** Asks for the best available seats of a sector, or for exactly the seats with these ids. */
export type HoldRequest = { sector_id: string; quantity: number } | { seat_ids: string[] };

/** What the fan enters at checkout: the name of each ticket holder and an e-mail address. */
export interface CheckoutRequest {
  holders: { seat_id: string; name: string }[];
  email: string;
}

/** The answer of checkout: the new order and how to pay it. */
export interface CheckedOutOrder {
  order_id: string;
  number: string;
  status: OrderStatus;
  /** Null if the seats cost nothing; then the order is already completed. */
  payment: { provider: string; intent_id: string; client_secret: string; confirm_url?: string } | null;
}

export type OrderStatus = 'awaiting_payment' | 'completed' | 'cancelled' | 'refunded' | 'expired';

/** A reservation that was checked out, with its tickets and its history (`timeline`). */
export interface Order {
  id: string;
  number: string;
  match_id: string;
  reservation_id: string;
  status: OrderStatus;
  total_cents: number;
  currency: string;
  seats: SeatLabel[];
  tickets: { id: string; status: TicketStatus }[];
  timeline: { at: string; event: string }[];
}

export type TicketStatus = 'valid' | 'used' | 'transferred' | 'refunded';

/** A sold seat with the name of its holder. */
export interface Ticket {
  id: string;
  order_id: string;
  match_id: string;
  seat: SeatLabel;
  holder_name: string;
  status: TicketStatus;
}

/** What the payment sandbox does with a payment. After `abandoned` nothing has changed, and the fan can still pay. */
export type PaymentOutcome = 'succeeded' | 'failed' | 'abandoned';

/**
 * The answer of the queue service about a fan's entry in the line (to a join or a position request). When the entry has ended,
 * `status` says how, `position` is null and there is no token.
 */
export interface QueueEntry {
  position: number | null;
  total: number;
  estimated_wait_minutes: number | null;
  estimated_wait_range?: [number, number] | null;
  status: 'waiting' | 'granted' | 'expired' | 'completed' | 'closed';
  queue_token?: string | null;
  websocket_url?: string | null;
  sse_url?: string | null;
  receipt?: string | null;
  paused?: boolean;
  reason?: string | null;
  purchase_window_expires_at?: string | null;
  session_token?: string | null;
}

/** The state of the line of a match, without a fan's own entry. */
export interface QueueStatus {
  status: 'scheduled' | 'active' | 'paused' | 'closed';
  total: number;
  processing_rate: number;
  estimated_wait_minutes: number | null;
}

/**
 * A match as operators see it. The two limits of the line are optional, because the contract does not require them; our server
 * sends them.
 */
export interface OpsMatch extends Match {
  processing_rate?: number;
  max_open_windows?: number;
  cancelled_at?: string | null;
  cancel_reason?: string | null;
}

/** An order as operators see it. */
export interface OpsOrder extends Order {
  email: string;
}

/** A fan who may not buy, and until when. */
export interface BlacklistEntry {
  user_id: string;
  reason: string;
  until: string | null;
}

export type SaleAction = 'open' | 'pause' | 'resume' | 'close';

/** The sales report of a match. */
export interface SalesReport {
  capacity: number;
  available: number;
  held: number;
  sold: number;
  blocked: number;
  refunded: number;
  revenue_cents: number;
  orders: Partial<Record<OrderStatus, number>>;
  queue: { waiting: number; open_windows: number; granted: number; completed: number; expired: number } | null;
}
