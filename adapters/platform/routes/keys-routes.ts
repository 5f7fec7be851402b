import * as z from 'zod'
import { alertWarnings } from '../../../src/alerts/silent-alerts.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import {
  KeyChange,
  KeyId,
  KeyList,
  KeyRecord,
  KeyRotation,
  NewKey,
  type NewlyRotated,
} from '../../../src/identity/keys.ts'
import { modelWarnings } from '../../../src/identity/model-warnings.ts'
import { ListQuery } from '../../../src/store/page.ts'
import { toUsd } from '../../../src/text/money.ts'
import { Burn } from '../../../src/wallet/burn/burn.ts'
import { Balances } from '../../../src/wallet/wallet.ts'
import { callerOf, type FrameContext } from '../../web/frame-context.ts'
import { listReply } from '../../web/list-reply.ts'
import { callContext } from '../call-context.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'
import { Released } from '../released.ts'

const secret = z.string().describe('The key. Shown only once.')
/** Query of the burn list, which has an order of its own. */
const BurnQuery = ListQuery.extend({
  limit: ListQuery.shape.limit.describe('Maximum number of items, least time left first.'),
  offset: ListQuery.shape.offset.describe('Number of items to skip.'),
}).strict()

const Warned = KeyRecord.extend({
  warnings: z.array(z.string()).describe('Accepted values that may be mistakes, such as a glob that matches no model.'),
})

/** Routes of API keys: all of them for admins, its own for any key. */
export const keyRoutes = (gateway: Gateway, stopping: AbortSignal): Route[] => [
  listRoute(gateway),
  burnRoute(gateway),
  readRoute(gateway),
  createRoute(gateway, stopping),
  changeRoute(gateway, stopping),
  rotateRoute(gateway),
  revokeRoute(gateway),
  releaseRoute(gateway),
]

/** Requests the list of models only when there are globs. */
async function warningsOf(
  globs: readonly string[] | null | undefined,
  { upstream }: Gateway,
  c: FrameContext,
  stopping: AbortSignal,
): Promise<string[]> {
  if (globs == null) return []
  const models = await upstream.models(callContext(c, callerOf(c).id, stopping))
  return modelWarnings(
    globs,
    models.map(({ id }) => id),
  )
}

const listRoute = ({ keys }: Gateway): Route =>
  defineRoute('GET /api/keys', {
    operation: 'listKeys',
    summary: 'List keys without their secrets, newest first',
    access: 'admin',
    query: KeyList.strict(),
    reply: pageOf(KeyRecord),
    run: ({ query }) => listReply(query, (part) => keys.list(part)),
  })

const burnRoute = ({ burn }: Gateway): Route =>
  defineRoute('GET /api/keys/burn', {
    operation: 'listBurn',
    summary: 'List keys and groups by the time until they run out',
    description:
      'For each valid key and each group: its balance, the budget that runs out first, the cost of its calls in ' +
      'the last 24 h, and the time left at that rate. Costs come from hourly sums.',
    access: 'admin',
    query: BurnQuery,
    reply: pageOf(Burn),
    run: ({ query }) => listReply(query, burn),
  })

const readRoute = ({ keys }: Gateway): Route =>
  defineRoute('GET /api/keys/{id}', {
    operation: 'getKey',
    summary: 'Retrieve a key without its secret',
    description: 'A key sees itself; an admin sees all, revoked ones included.',
    access: 'own',
    params: z.strictObject({ id: KeyId }),
    reply: KeyRecord,
    async run({ params: { id }, c }) {
      const { id: own, scopes } = callerOf(c)
      const found = scopes.has('admin') || own === id ? await keys.read(id) : null
      if (found !== null) return found
      throw new GazewayError('not_found', `The key ${id} does not exist, or is not yours.`, { param: 'id' })
    },
  })

function createRoute(gateway: Gateway, stopping: AbortSignal): Route {
  const { keys, log } = gateway
  return defineRoute('POST /api/keys', {
    operation: 'createKey',
    summary: 'Create a key',
    description:
      'Only this reply contains the key. With an Idempotency-Key, a retry creates no second key: it is 409 and ' +
      'names the id of the first. If you did not receive the reply, revoke that key.',
    access: 'admin',
    body: NewKey,
    reply: Warned.extend({ key: secret }),
    status: 201,
    idempotent: true,
    secret: 'If you did not receive the reply, revoke that key and create another with a new Idempotency-Key.',
    location: ({ id }) => `/api/keys/${id}`,
    async run({ body, c, keep }) {
      const { budgets } = body.limits
      const warnings = [
        ...(await warningsOf(body.models, gateway, c, stopping)),
        ...alertWarnings({ alerts: body.alerts, budgets }, gateway.loaded.config.alerts),
      ]
      const { key, record } = await keys.create(
        body,
        keep && ((trx, made) => keep(trx, { ...made.record, key: made.key, warnings })),
      )
      log.info('Key created.', { by: callerOf(c).id, key_id: record.id, scopes: record.scopes })
      return { ...record, key, warnings }
    },
  })
}

function changeRoute(gateway: Gateway, stopping: AbortSignal): Route {
  const { keys, log } = gateway
  return defineRoute('PATCH /api/keys/{id}', {
    operation: 'updateKey',
    summary: 'Update the limits, group, billing, alerts, expiry or name of a key',
    description:
      'Absent fields stay unchanged, also inside limits; null removes a limit. Changes apply at once in this process, and ' +
      'within 5 s in others on the same store. Of concurrent changes to one field, the later one wins.',
    access: 'admin',
    params: z.strictObject({ id: KeyId }),
    body: KeyChange,
    reply: Warned,
    async run({ params, body, c }) {
      const warnings = await warningsOf(body.models, gateway, c, stopping)
      const record = await keys.change(params.id, body)
      log.info('Key changed.', { by: callerOf(c).id, key_id: record.id, changed: Object.keys(body) })
      const { alerts, limits } = record
      warnings.push(...alertWarnings({ alerts, budgets: limits.budgets }, gateway.loaded.config.alerts))
      return { ...record, warnings }
    },
  })
}

const rotateRoute = ({ keys, log }: Gateway): Route =>
  defineRoute('POST /api/keys/{id}/rotate', {
    operation: 'rotateKey',
    summary: 'Rotate a key',
    description:
      'Only this reply contains the new key. Its id, limits and balance stay. The old secret works until the grace ' +
      'period ends. The next rotation revokes it earlier: at once in this process, and within 5 s in others on the ' +
      'same store. Where the file admin.key in the data folder holds this key, it is rewritten.',
    access: 'admin',
    params: z.strictObject({ id: KeyId }),
    body: KeyRotation,
    optionalBody: true,
    reply: KeyRecord.extend({
      key: secret,
      previous_expires_at: z.iso
        .datetime()
        .nullable()
        .describe('Expiry of the old secret; null when it ended at once.'),
    }),
    idempotent: true,
    secret: 'If you did not receive the reply, rotate again with a new Idempotency-Key.',
    location: ({ id }) => `/api/keys/${id}`,
    async run({ params, body, c, keep }) {
      const replyOf = ({ record, key, previousExpiresAt }: Omit<NewlyRotated, 'keyFile'>) => ({
        ...record,
        key,
        previous_expires_at: previousExpiresAt,
      })
      const rotated = await keys.rotate(params.id, body, keep && ((trx, made) => keep(trx, replyOf(made))))
      log.info('Key rotated.', { by: callerOf(c).id, key_id: params.id, grace_seconds: body.grace_seconds })
      return replyOf(rotated)
    },
  })

const revokeRoute = ({ keys, wallet, log }: Gateway): Route =>
  defineRoute('DELETE /api/keys/{id}', {
    operation: 'revokeKey',
    summary: 'Revoke a key',
    description:
      'The key stops working at once in this process, and within 5 s in others on the same store. With a wallet, ' +
      'its balance moves to the account that receives the wallet’s deposits. Later refunds move when the key is ' +
      'revoked again, or a key is created for the wallet. Without a wallet the balance stays; see balances.',
    access: 'admin',
    params: z.strictObject({ id: KeyId }),
    reply: KeyRecord.extend({ balances: Balances.describe('Money left on the key, which cannot be spent') }),
    async run({ params, c }) {
      const record = await keys.revoke(params.id)
      log.info('Key revoked.', { by: callerOf(c).id, key_id: record.id })
      return { ...record, balances: await wallet.balances(record.id) }
    },
  })

const releaseRoute = ({ keys, wallet, log }: Gateway): Route =>
  defineRoute('POST /api/keys/{id}/release', {
    operation: 'releaseKeySpending',
    summary: 'Release what is presumed spent of a key',
    description:
      'Its budgets have the amount again. Release it once the process that reserved it has ended, and you know that ' +
      'the provider did not bill it: `gazeway doctor --recover` finds out what a journal proves.',
    access: 'admin',
    params: z.strictObject({ id: KeyId }),
    reply: Released,
    async run({ params: { id }, c }) {
      if ((await keys.find(id)) === null) throw new GazewayError('not_found', 'The key does not exist.')
      const released_usd = toUsd(await wallet.releasePresumed(id))
      log.info('Presumed spending released.', { by: callerOf(c).id, key_id: id, released_usd })
      return { released_usd }
    },
  })
