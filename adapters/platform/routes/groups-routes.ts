import * as z from 'zod'
import type { Gateway } from '../../../src/gateway.ts'
import { GroupChange, GroupId, GroupRecord, NewGroup } from '../../../src/identity/groups.ts'
import { ListQuery } from '../../../src/store/page.ts'
import { callerOf } from '../../web/frame.ts'
import { listReply } from '../../web/list-reply.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'

const tag = 'Keys'
const params = z.strictObject({ id: GroupId })

/** Groups of keys that share budgets, for admins. */
export const groupRoutes = ({ groups, log }: Gateway): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/groups',
    tag,
    summary: 'All groups of keys, newest first, with what their keys have spent',
    access: 'admin',
    query: ListQuery.strict(),
    reply: pageOf(GroupRecord),
    run: ({ query }) => listReply(query, (part) => groups.list(part)),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/groups',
    tag,
    summary: 'Make a group of keys',
    description:
      'What its keys spend counts against its budgets and against their own. Put keys into it with PATCH /api/keys/{id}.',
    access: 'admin',
    body: NewGroup,
    reply: GroupRecord,
    status: 201,
    idempotent: true,
    location: ({ id }) => `/api/groups/${id}`,
    async run({ body, c, keep }) {
      const record = await groups.create(body, keep)
      log.info('Group created.', { by: callerOf(c).id, group_id: record.id })
      return record
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: '/api/groups/{id}',
    tag,
    summary: 'Change the name, the budgets or the alerts of a group',
    description:
      'What is left out stays; [] takes all budgets or alerts away. Calls are held to new budgets at once here, and within 5 s in other ' +
      'processes on the same store.',
    access: 'admin',
    params,
    body: GroupChange,
    reply: GroupRecord,
    async run({ params: { id }, body, c }) {
      const record = await groups.change(id, body)
      log.info('Group changed.', { by: callerOf(c).id, group_id: id, changed: Object.keys(body) })
      return record
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/groups/{id}',
    tag,
    summary: 'Delete a group that has no keys',
    description: 'While keys are in it that are not revoked, it is refused with 409 `conflict`.',
    access: 'admin',
    params,
    reply: z.void(),
    status: 204,
    async run({ params: { id }, c }) {
      await groups.remove(id)
      log.info('Group deleted.', { by: callerOf(c).id, group_id: id })
    },
  }),
]
