import type { CallSpend } from '../calls/call-spend.ts'
import { GazewayError } from '../errors.ts'
import type { Identity } from '../identity/identity.ts'
import type { Usage } from '../providers/token-usage.ts'
import type { Micros } from '../text/money.ts'
import type { ChargeCall } from '../wallet/charges.ts'
import type { Overrun } from '../wallet/overruns.ts'
import { marginOf, type PricingConfig } from '../wallet/pricing.ts'
import type { Payer, Reservation, Reservations } from '../wallet/reservations.ts'
import type { CallBound } from './call-bound.ts'
import { type CountedCall, NO_HEADERS } from './call-rates.ts'

/** What calls are billed with. */
export interface BillDeps {
  reservations: Reservations
  charge: ChargeCall
  pricing: PricingConfig
  /** How far a key without a credit limit of its own may spend beyond its deposits. */
  defaultCreditMicros: Micros
  now: () => Date
  /** Told of each call whose cost was above its reservation. */
  onOverrun: (overrun: Overrun) => void
}

/** How a call ended, for its receipt. */
export interface Billed {
  /** Of the attempt that was answered. */
  callId: string
  model: string
  path: string
  usage: Usage | null
  latencyMs: number
}

/** The money side of one call: what is set aside for it, what it takes, what is given back. */
export interface Bill {
  /** The limit of the answer that is to be sent, so that it cannot cost more than was set aside; null for none. */
  answerLimit: number | null
  /** Headers about the limits of the caller. */
  headers: Readonly<Record<string, string>>
  /** Whether there is a reservation that an answer can outgrow. */
  isBounded: boolean
  /** Whether money moves for it: no answer is complete before that is durable. */
  isCharged: boolean
  /** How many tokens of an answer what is set aside pays for. */
  answerTokens(): number
  /** Sets aside what so many more tokens of the answer cost. @returns whether there was as much */
  extend(tokens: number): Promise<boolean>
  /**
   * Sets as much aside again, for an upstream that is asked beside the first: both may bill.
   *
   * @returns gives it back; null where there is not as much
   */
  reserveAgain(): Promise<(() => void) | null>
  /** The answer was cut off, or its cost does not show in it: it costs what was set aside. */
  cutOff(): void
  /**
   * Notes what an attempt cost.
   *
   * @param isHad whether its client has any of its answer
   * @returns what is to be written with its record
   */
  attempted(of: {
    callId: string
    model: string
    costMicros: Micros
    usage: Usage | null
    isHad: boolean
  }): CallSpend | null
  /**
   * Charges what the attempts cost, where they are charged.
   *
   * @returns what was charged, once that is durable; null where nothing was
   * @throws as `ChargeCall`
   */
  settle(billed: Billed): Promise<Micros | null>
  /** Gives the rest back. To be called once, whatever came of the call. */
  end(): void
}

/** The bill of a call that nobody is held to: of a tool on this machine. */
export const NO_BILL: Bill = {
  answerLimit: null,
  headers: NO_HEADERS,
  isBounded: false,
  isCharged: false,
  answerTokens: () => Infinity,
  extend: async () => true,
  reserveAgain: async () => () => {},
  cutOff() {},
  attempted: () => null,
  settle: async () => null,
  end() {},
}

/** The bill of a call whose money is dealt with by who makes it: there is none for a second upstream. */
export const PAID_BILL: Bill = { ...NO_BILL, reserveAgain: async () => null }

/** The reservation of a call, by the most that it can cost; counted where the quick bound is more than there is. */
export function reserveFor(
  deps: Pick<BillDeps, 'reservations' | 'defaultCreditMicros' | 'pricing'>,
  key: Identity,
  bound: CallBound,
): Reservation | Promise<Reservation> {
  const payer = payerOf(key, deps.defaultCreditMicros)
  const margin = marginFor(key, deps.pricing)
  const quick = deps.reservations.reserve(payer, bound.micros + margin)
  if (!(quick instanceof Promise)) return quick
  return quick.catch(async (error: unknown) => {
    if (!isShort(error)) throw error
    const counted = await bound.counted()
    if (counted >= bound.micros) throw error
    return deps.reservations.reserve(payer, counted + margin)
  })
}

const isShort = (error: unknown): boolean =>
  error instanceof GazewayError && (error.code === 'budget_reached' || error.code === 'insufficient_credit')

const marginFor = ({ billing }: Identity, pricing: PricingConfig): Micros =>
  billing === 'metered' ? marginOf(pricing) : 0

/** Keys are read anew every other second, and a call must not take apart what it is held to. */
const payers = new WeakMap<Identity, Payer & { defaultCreditMicros: Micros }>()

function payerOf(key: Identity, defaultCreditMicros: Micros): Payer {
  const known = payers.get(key)
  if (known?.defaultCreditMicros === defaultCreditMicros) return known
  const { id, group, budgets, billing, creditLimitMicros } = key
  const bounds = [...budgets, ...(group?.budgets ?? [])]
  const payer = {
    spender: { id, groupId: group?.id ?? null },
    creditMicros: billing === 'recorded' ? null : (creditLimitMicros ?? defaultCreditMicros),
    budgets: bounds.length === 0 ? null : JSON.stringify([budgets, group]),
    defaultCreditMicros,
  }
  payers.set(key, payer)
  return payer
}

/** Whose call it is, and what it may cost. */
interface BillOf {
  key: Identity
  bound: CallBound
  reservation: Reservation
  counted: CountedCall
  /** A stream can be cut off where it outgrows its reservation; any other answer has to be limited. */
  isStream: boolean
  /** The model may go on once its client has the reply: a Response in the background. */
  isDetached: boolean
}

/** The bill of a call for which money or budget is set aside, or that is only counted. */
export function createBill(deps: BillDeps, { key, bound, reservation, counted, isStream, isDetached }: BillOf): Bill {
  const { charge, pricing, now, onOverrun } = deps
  const isBounded = reservation.left() !== Infinity
  const isCharged = key.billing !== 'recorded'
  const margin = marginFor(key, pricing)
  const began = now()
  let { answerTokens } = bound
  let costMicros = 0
  let tokens = 0
  let isHad = false
  let isCut = false

  /** What is left for the cost of the call: the margin is taken last. */
  const leftForCost = (): Micros => reservation.left() - margin - costMicros

  return {
    answerLimit: isBounded && !isStream ? bound.answerLimit : null,
    headers: counted.headers,
    isBounded,
    isCharged,
    answerTokens: () => answerTokens,
    async extend(more) {
      const micros = bound.more(more)
      if (!(await reservation.extend(micros))) return false
      answerTokens += more
      return true
    },
    async reserveAgain() {
      try {
        return (await reserveFor(deps, key, bound)).end
      } catch {
        // The call goes on without a second upstream. Where the store has failed, its settlement says so.
        return null
      }
    },
    cutOff() {
      isCut = true
    },
    attempted(attempt) {
      const { callId, model } = attempt
      tokens += attempt.usage?.total_tokens ?? 0
      isHad ||= attempt.isHad
      const left = leftForCost()
      if (attempt.costMicros > left)
        onOverrun({ callId, callerId: key.id, model, reservedMicros: left, costMicros: attempt.costMicros })
      const isUnseen = isDetached && isBounded && attempt.isHad && (attempt.usage?.estimated ?? true)
      const cost = isCut || isUnseen ? left : Math.min(attempt.costMicros, left)
      if (!isCharged) return reservation.take(cost)
      costMicros += cost
      return null
    },
    async settle({ callId, model, path, usage, latencyMs }) {
      if (!isCharged || !isHad) return null
      const held = reservation.left()
      const at = began.toISOString()
      const spend = reservation.take(costMicros + margin)
      const receipt = {
        call_id: callId,
        caller_id: key.id,
        model,
        status: 'captured',
        at,
        deadline: at,
        held_micros: held,
        margin_micros: margin,
        upstream_cost_micros: costMicros,
        token: pricing.token,
        prompt_tokens: usage?.prompt_tokens ?? 0,
        completion_tokens: usage?.completion_tokens ?? 0,
        total_tokens: usage?.total_tokens ?? 0,
        usage_estimated: Number(usage?.estimated ?? false),
        latency_ms: latencyMs,
        upstream_call_id: callId,
        idempotency_key: null,
        fingerprint: null,
        content: null,
        path,
        counted_on: spend.day,
        group_id: spend.spender.groupId,
      }
      await charge({ allowanceId: spend.allowanceId as string, receipt }).catch((error) => {
        spend.undo()
        throw error
      })
      spend.written()
      return costMicros + margin
    },
    end() {
      counted.end(tokens)
      reservation.end()
    },
  }
}
