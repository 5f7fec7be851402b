import { LRUCache } from 'lru-cache'
import { GazewayError } from '../../errors.ts'
import type { Store } from '../../store/store.ts'
import { type Micros, toUsd } from '../../text/money.ts'
import { type BorneCauses, NOT_READ, readCauses } from './borne-causes.ts'
import { dayOf } from './spending.ts'

const REMEMBERED = 10_000
const REMEMBERED_MS = 5_000

/** A model that may answer a call: by the name that was asked for, and by its id at the upstream. */
interface AskedModel {
  requested: string
  upstream: string
}

/** A call that the operator bears a part of. */
export interface AbsorbedCall {
  callId: string
  callerId: string
  model: string
  /** The part that the operator bears. */
  micros: Micros
}

/**
 * Bound of what the operator bears for each charged key on a UTC day: because models ignore their limits, because the key
 * leaves answers that the provider bills, and because its requests fail in ways that a client can provoke. Connections
 * that break, replies that cannot be read and overtaken hedges refuse no key a model.
 */
export interface Absorbed {
  /**
   * Requires that the operator may bear more for a caller. Beyond the bound, models are refused that have ignored the limit
   * of an answer of this caller today, or failed in ways that a client can provoke while the caller pays little; all models
   * are, once answers that it left, and requests that the provider refused and billed, have reached the bound alone.
   *
   * @returns a promise only when the store is asked
   * @throws GazewayError `limit_not_kept`
   */
  require(callerId: string, models: readonly AskedModel[]): void | Promise<void>
  /** Begins to bear what a stream of a caller generates beyond its limit. */
  bear(callerId: string): BorneStream
  /** Reads again what was borne for a caller, because it has become more. */
  forget(callerId: string): void
}

/** A stream that goes on beyond its limit, at the operator's cost. */
export interface BorneStream {
  /**
   * Raises what is borne for the stream.
   *
   * @returns false, and raises nothing, when it does not fit the bound of the day with what calls of this process bear at
   *   the moment
   */
  raise(micros: Micros): Promise<boolean>
  /** Ends it, once its receipt counts. */
  end(): void
}

/** Amount that the operator has borne for a caller on a day. Its causes are read once it has reached the bound. */
interface Borne extends BorneCauses {
  micros: Micros
}

/**
 * Creates the bound. What was borne is read from the sums of receipts, at most every 5 s for each caller.
 *
 * @param mostMicros most that is borne for a key a day
 */
export function createAbsorbed(store: Store, now: () => Date, mostMicros: () => Micros): Absorbed {
  const known = new LRUCache<string, Borne | Promise<Borne>>({ max: REMEMBERED, ttl: REMEMBERED_MS })
  /** Borne for the running streams of a caller. */
  const running = new Map<string, Micros>()

  /** Finds what was borne for a caller today. @returns a promise only when the store is asked */
  function borneFor(callerId: string): Borne | Promise<Borne> {
    const day = dayOf(now().toISOString())
    const key = `${day} ${callerId}`
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    const borne = readBorne(store, callerId, { day, most: mostMicros() })
    known.set(key, borne)
    borne.then(
      (read) => known.get(key) === borne && known.set(key, read),
      () => known.delete(key),
    )
    return borne
  }

  function refuse({ causedMicros, unreadMicros, ignoring, provoked }: Borne, models: readonly AskedModel[]): void {
    const most = mostMicros()
    const among = (names: ReadonlySet<string>) =>
      models.find(({ requested, upstream }) => names.has(requested) || names.has(upstream))
    if (unreadMicros > 0 && unreadMicros >= most) throw answersNotRead({ micros: unreadMicros, most })
    const ignores = causedMicros >= most ? among(ignoring) : undefined
    if (ignores !== undefined) throw limitNotKept(ignores, { micros: causedMicros, most })
    const fails = provoked.micros > 0 && provoked.micros >= most ? among(provoked.models) : undefined
    if (fails !== undefined) throw answersProvoked(fails, { micros: provoked.micros, most })
  }

  return {
    require(callerId, models) {
      const borne = borneFor(callerId)
      return borne instanceof Promise ? borne.then((read) => refuse(read, models)) : refuse(borne, models)
    },
    bear(callerId) {
      let own = 0
      function add(micros: Micros): void {
        own += micros
        const all = (running.get(callerId) ?? 0) + micros
        if (all === 0) running.delete(callerId)
        else running.set(callerId, all)
      }
      return {
        async raise(to) {
          const { micros } = await borneFor(callerId)
          const more = Math.max(0, to - own)
          if (micros + (running.get(callerId) ?? 0) + more > mostMicros()) return false
          add(more)
          return true
        },
        end: () => add(-own),
      }
    },
    forget(callerId) {
      known.delete(`${dayOf(now().toISOString())} ${callerId}`)
    },
  }
}

/** Sums what the operator has borne for a caller on a day. */
export async function absorbedOn({ db }: Store, callerId: string, day: string): Promise<Micros> {
  const { micros } = await db
    .selectFrom('metered_usage')
    .select(({ fn }) => fn.sum<number | null>('absorbed_micros').as('micros'))
    .where('caller_id', '=', callerId)
    .where('day', '=', day)
    .executeTakeFirstOrThrow()
  return Number(micros ?? 0)
}

async function readBorne(store: Store, callerId: string, { day, most }: { day: string; most: Micros }): Promise<Borne> {
  const micros = await absorbedOn(store, callerId, day)
  return { micros, ...(micros < most ? NOT_READ : await readCauses(store, callerId, day)) }
}

const answersNotRead = ({ micros, most }: { micros: Micros; most: Micros }): GazewayError =>
  new GazewayError(
    'limit_not_kept',
    `Answers that this key did not get, such as those that it left before their end, have cost the operator ${toUsd(micros)} USD today, and ${toUsd(most)} USD is borne at most. ` +
      'Have the operator raise wallet.absorbed_usd_per_day. The key may ask again tomorrow (UTC).',
  )

const limitNotKept = ({ requested }: AskedModel, { micros, most }: { micros: Micros; most: Micros }): GazewayError =>
  new GazewayError(
    'limit_not_kept',
    `The model ${JSON.stringify(requested.slice(0, 100))} has ignored the limit of its answers: the operator bears ${toUsd(micros)} USD for this key today, and ${toUsd(most)} USD at most. ` +
      'Ask another model, or have the operator raise wallet.absorbed_usd_per_day. It is allowed again tomorrow (UTC).',
    { param: 'model' },
  )

const answersProvoked = ({ requested }: AskedModel, { micros, most }: { micros: Micros; most: Micros }): GazewayError =>
  new GazewayError(
    'limit_not_kept',
    `Answers of the model ${JSON.stringify(requested.slice(0, 100))} that did not come in time, were too large, or took another try, have cost the operator ${toUsd(micros)} USD for this key today: more than ${toUsd(most)} USD, and more than the key pays. ` +
      'Ask another model, or have the operator raise wallet.absorbed_usd_per_day. It is allowed again tomorrow (UTC).',
    { param: 'model' },
  )
