import { z } from 'zod'
import type { Gateway } from '../../../src/gateway.ts'
import { KeyChange, KeyId, KeyRecord, NewKey } from '../../../src/identity/keys.ts'
import { ListQuery } from '../../../src/store/page.ts'
import { Balances } from '../../../src/wallet/wallet.ts'
import { callerOf } from '../caller.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'
import { listReply } from '../list-reply.ts'

const tag = 'Keys'

/** API keys, for admins. */
export const keyRoutes = ({ keys, wallet, log }: Gateway): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/keys',
    tag,
    summary: 'All keys, newest first, without their secrets',
    access: 'admin',
    query: ListQuery.strict(),
    reply: pageOf(KeyRecord),
    run: ({ query }) => listReply(query, (part) => keys.list(part)),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/keys',
    tag,
    summary: 'Make a key',
    description:
      'The reply holds the key itself, which nothing can show again. With an Idempotency-Key one key is made; the same request ' +
      'again is 409 and names its id, to be revoked where the reply did not arrive.',
    access: 'admin',
    body: NewKey,
    reply: KeyRecord.extend({ key: z.string().describe('The key. Shown now and never again.') }),
    status: 201,
    idempotent: true,
    secret: 'If its reply did not arrive, delete that, and ask again with another Idempotency-Key.',
    location: ({ id }) => `/api/keys/${id}`,
    async run({ body, c, keep }) {
      const { key, record } = await keys.create(
        body,
        keep && ((trx, made) => keep(trx, { ...made.record, key: made.key })),
      )
      log.info('Key made.', { by: callerOf(c).id, key_id: record.id, scopes: record.scopes })
      return { ...record, key }
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: '/api/keys/{id}',
    tag,
    summary: 'Change the name or the limits of a key',
    description:
      'What is left out stays; null takes a limit away. Calls are held to the new limits at once here, and within 5 s ' +
      'in other processes on the same store.',
    access: 'admin',
    params: z.strictObject({ id: KeyId }),
    body: KeyChange,
    reply: KeyRecord,
    async run({ params, body, c }) {
      const record = await keys.change(params.id, body)
      log.info('Key changed.', { by: callerOf(c).id, key_id: record.id, changed: Object.keys(body) })
      return record
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/keys/{id}',
    tag,
    summary: 'Revoke a key for good',
    description:
      'It stops working at once here, and within 5 s in other processes on the same store. What it has goes where deposits for ' +
      'its wallet go from now on, and so does what comes back to it later, when it is revoked again or a key is made for the ' +
      'wallet. Without a wallet, it stays; balances tells what.',
    access: 'admin',
    params: z.strictObject({ id: KeyId }),
    reply: KeyRecord.extend({ balances: Balances.describe('What is left with it, out of reach') }),
    async run({ params, c }) {
      const record = await keys.revoke(params.id)
      log.info('Key revoked.', { by: callerOf(c).id, key_id: record.id })
      return { ...record, balances: await wallet.balances(record.id) }
    },
  }),
]
