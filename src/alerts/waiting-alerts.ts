import type { Store } from '../store/store.ts'

/** Messages to the webhook that are not delivered. */
export interface WaitingAlerts {
  /** Messages that are due or will be retried. */
  length: number
  /** Age of the oldest of them in milliseconds; 0 when there is none. */
  oldestMs: number
  /** Messages that are not retried any more. */
  givenUp: number
}

/** Counts the messages of the outbox that are not delivered. */
export async function waitingAlerts({ db }: Pick<Store, 'db'>, now: Date): Promise<WaitingAlerts> {
  const [waiting, givenUp] = await Promise.all([
    db
      .selectFrom('alert_messages')
      .select(({ fn }) => [fn.countAll<number>().as('length'), fn.min('created_at').as('oldest')])
      .where('next_at', 'is not', null)
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('alert_messages')
      .select(({ fn }) => fn.countAll<number>().as('length'))
      .where('next_at', 'is', null)
      .where('error', 'is not', null)
      .executeTakeFirstOrThrow(),
  ])
  return {
    length: Number(waiting.length),
    oldestMs: waiting.oldest === null ? 0 : Math.max(0, now.getTime() - Date.parse(waiting.oldest)),
    givenUp: Number(givenUp.length),
  }
}
