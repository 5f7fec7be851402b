import { z } from 'zod'
import type { Gateway } from '../../src/gateway.ts'
import { KeyChange, KeyId, KeyRecord, NewKey } from '../../src/identity/keys.ts'
import { ListQuery } from '../../src/store/page.ts'
import { pageOf } from './page.ts'
import { defineRoute, type Route } from './route.ts'

const tag = 'Keys'

/** API keys, for admins. */
export const keyRoutes = ({ keys }: Gateway): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/keys',
    tag,
    summary: 'All keys, newest first, without their secrets',
    access: 'admin',
    query: ListQuery.strict(),
    reply: pageOf(KeyRecord),
    run: ({ query }) => keys.list(query),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/keys',
    tag,
    summary: 'Make a key',
    description: 'The reply holds the key itself, which nothing can show again.',
    access: 'admin',
    body: NewKey,
    reply: KeyRecord.extend({ key: z.string().describe('The key. Shown now and never again.') }),
    status: 201,
    idempotent: true,
    secret: true,
    async run({ body }) {
      const { key, record } = await keys.create(body)
      return { ...record, key }
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: '/api/keys/{id}',
    tag,
    summary: 'Change the name or the limits of a key',
    description: 'What is left out stays; null takes a limit away. Calls are held to the new limits within 5 s.',
    access: 'admin',
    params: z.strictObject({ id: KeyId }),
    body: KeyChange,
    reply: KeyRecord,
    run: ({ params, body }) => keys.change(params.id, body),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/keys/{id}',
    tag,
    summary: 'Revoke a key for good',
    description: 'It stops working at once here, and within 5 s in other processes on the same store.',
    access: 'admin',
    params: z.strictObject({ id: KeyId }),
    reply: KeyRecord,
    run: ({ params }) => keys.revoke(params.id),
  }),
]
