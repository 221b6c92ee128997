import type { FanSocket } from './fan-socket.ts';
import type { StreamDevice } from './stream-device.ts';

/** Above this share of its limit a pod is nearly full. */
const NEARLY_FULL_SHARE = 0.8;
/** The share of the connections of a nearly full pod that one client address may hold, and get no more. */
const MAX_SHARE_OF_ADDRESS = 0.05;

/** The open connections of one client address. All of them share this object. */
export interface AddressConnections {
  readonly address: string;
  open: number;
}

/** The sockets and event streams of this pod. A pod at its limit refuses new ones, so that it serves its open ones well. */
export class ConnectionBudget {
  readonly sockets = new Set<FanSocket>();
  readonly streams = new Set<StreamDevice>();
  /** Set when the pod starts to shut down. */
  isDraining = false;
  private readonly byAddress = new Map<string, AddressConnections>();

  constructor(readonly limit: number) {}

  get open(): number {
    return this.sockets.size + this.streams.size;
  }

  get isFull(): boolean {
    return this.open >= this.limit;
  }

  /**
   * True if the pod is nearly full and this address holds more than its share of the connections. Otherwise one address with many
   * accounts could fill the pod, and no other fan could connect.
   */
  isUsedUpBy(address: string): boolean {
    const ofAddress = this.byAddress.get(address)?.open ?? 0;
    return this.open > NEARLY_FULL_SHARE * this.limit && ofAddress > MAX_SHARE_OF_ADDRESS * this.open;
  }

  /** Counts a new connection of a client address. */
  take(address: string): AddressConnections {
    const ofAddress = this.byAddress.get(address) ?? { address, open: 0 };
    this.byAddress.set(address, ofAddress);
    ofAddress.open += 1;
    return ofAddress;
  }

  /** Call it once for each `take`, when the connection has closed. */
  giveBack(ofAddress: AddressConnections): void {
    ofAddress.open -= 1;
    if (ofAddress.open === 0) this.byAddress.delete(ofAddress.address);
  }
}

/** A random Retry-After of one to five seconds, so that refused clients do not all return at the same moment. */
export function jitteredRetryAfter(): Record<string, string> {
  return { 'retry-after': String(1 + Math.floor(Math.random() * 5)) };
}
