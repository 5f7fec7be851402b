import { LRUCache } from 'lru-cache'
import { GazewayError } from '../../errors.ts'
import type { Store } from '../../store/store.ts'
import { type Micros, toUsd } from '../../text/money.ts'
import { dayOf } from './spending.ts'

const REMEMBERED = 10_000
const REMEMBERED_MS = 5_000

/** A model that may answer a call: by the name that was asked for, and by its id at the upstream. */
interface AskedModel {
  requested: string
  upstream: string
}

/** Bound of what the operator bears for each charged key on a UTC day, because models ignore their limits. */
export interface Absorbed {
  /**
   * Requires that the operator may bear more for a caller, or that no model is asked that has ignored the limit of an
   * answer of this caller today.
   *
   * @returns a promise only when the store is asked
   * @throws GazewayError `limit_not_kept`
   */
  require(callerId: string, models: readonly AskedModel[]): void | Promise<void>
  /** Reads again what was borne for a caller, because it has become more. */
  forget(callerId: string): void
}

/** Amount that was borne for a caller on a day. */
interface Borne {
  micros: Micros
  /** Names and ids of the models that ignored a limit. Read once the bound is reached. */
  models: ReadonlySet<string>
}

/**
 * Creates the bound. What was borne is read from the sums of receipts, at most every 5 s for each caller.
 *
 * @param mostMicros most that is borne for a key a day
 */
export function createAbsorbed(store: Store, now: () => Date, mostMicros: () => Micros): Absorbed {
  const known = new LRUCache<string, Borne | Promise<Borne>>({ max: REMEMBERED, ttl: REMEMBERED_MS })

  function refuse({ micros, models: ignoring }: Borne, models: readonly AskedModel[]): void {
    const most = mostMicros()
    if (micros < most) return
    const model = models.find(({ requested, upstream }) => ignoring.has(requested) || ignoring.has(upstream))
    if (model !== undefined) throw limitNotKept(model, { micros, most })
  }

  return {
    require(callerId, models) {
      const day = dayOf(now().toISOString())
      const key = `${day} ${callerId}`
      const remembered = known.get(key)
      if (remembered !== undefined && !(remembered instanceof Promise)) return refuse(remembered, models)
      const borne = remembered ?? readBorne(store, callerId, { day, most: mostMicros() })
      if (remembered === undefined) {
        known.set(key, borne)
        borne.then(
          (read) => known.get(key) === borne && known.set(key, read),
          () => known.delete(key),
        )
      }
      return borne.then((read) => refuse(read, models))
    },
    forget(callerId) {
      known.delete(`${dayOf(now().toISOString())} ${callerId}`)
    },
  }
}

async function readBorne(
  { db }: Store,
  callerId: string,
  { day, most }: { day: string; most: Micros },
): Promise<Borne> {
  const { micros } = await db
    .selectFrom('metered_usage')
    .select(({ fn }) => fn.sum<number | null>('absorbed_micros').as('micros'))
    .where('caller_id', '=', callerId)
    .where('day', '=', day)
    .executeTakeFirstOrThrow()
  const borne = Number(micros ?? 0)
  if (borne < most) return { micros: borne, models: new Set() }
  const capped = await db
    .selectFrom('metered_calls as m')
    .leftJoin('calls as c', 'c.call_id', 'm.call_id')
    .select(['m.model as requested', 'c.model as upstream'])
    .distinct()
    .where('m.caller_id', '=', callerId)
    .where('m.at', '>=', `${day}T00:00:00.000Z`)
    .where('m.capped', '=', 1)
    .execute()
  const names = capped.flatMap(({ requested, upstream }) => [requested, upstream ?? requested])
  return { micros: borne, models: new Set(names) }
}

const limitNotKept = ({ requested }: AskedModel, { micros, most }: { micros: Micros; most: Micros }): GazewayError =>
  new GazewayError(
    'limit_not_kept',
    `The model ${JSON.stringify(requested.slice(0, 100))} has ignored the limit of its answers: the operator bears ${toUsd(micros)} USD for this key today, and ${toUsd(most)} USD at most. ` +
      'Ask another model, or have the operator raise wallet.absorbed_usd_per_day. It is allowed again tomorrow (UTC).',
    { param: 'model' },
  )
