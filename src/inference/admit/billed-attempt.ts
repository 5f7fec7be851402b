import type { Transaction } from 'kysely'
import type { AppliedPrice } from '../../providers/cost.ts'
import type { PricedModel } from '../../providers/prices.ts'
import type { Usage } from '../../providers/token-usage.ts'
import type { Schema } from '../../store/schema.ts'
import type { Micros } from '../../text/money.ts'
import type { ChargedCall } from '../../wallet/receipts/store-receipts.ts'

/** Result of a call, for its receipt. */
export interface Billed {
  /** Id of the attempt that answered. */
  callId: string
  model: string
  path: string
  usage: Usage | null
  latencyMs: number
  /** Stores the reply to the caller in the transaction of the charge, for replays. */
  keep?: ((trx: Transaction<Schema>, receipt: ChargedCall) => Promise<void>) | undefined
}

/** An attempt at a call, and its cost. */
export interface BilledAttempt {
  callId: string
  /** Model that was asked for. */
  model: string
  /** Another model than the asked one that the answer names, and the asked one. Null when it names none. */
  answeredBy: { id: string; asked: PricedModel } | null
  /** True when the cost is known without tokens: of images, or seconds of audio. */
  isByPiece?: boolean
  /** Upstream that was asked. */
  upstream: string
  /** Called endpoint. */
  path: string
  costMicros: Micros
  /** Amount that the provider may have charged beyond the cost. Budgets count it, and no caller pays it. */
  unseenMicros?: Micros
  /** Cost of replies that were discarded for another try, as they told it. Budgets count it, and no caller pays it. */
  discardedMicros?: Micros
  /** Rates that the cost was computed from. */
  price: () => AppliedPrice
  /** True when the provider stated the cost. */
  isStated: boolean
  usage: Usage | null
  latencyMs: number
  /** True for the cost of an answer for which the whole reservation was booked, before it was known. */
  isLater?: true | undefined
  /** True when the client received part of its answer. */
  isHad: boolean
}
