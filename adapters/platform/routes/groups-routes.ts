import * as z from 'zod'
import { alertWarnings } from '../../../src/alerts/silent-alerts.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { GroupChange, GroupId, GroupRecord, NewGroup } from '../../../src/identity/groups.ts'
import { ListQuery } from '../../../src/store/page.ts'
import { toUsd } from '../../../src/text/money.ts'
import { callerOf } from '../../web/frame-context.ts'
import { listReply } from '../../web/list-reply.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'
import { Released } from '../released.ts'

const params = z.strictObject({ id: GroupId })
const Warned = GroupRecord.extend({
  warnings: z.array(z.string()).describe('Accepted values that may be mistakes, such as alerts that nobody receives.'),
})

/** Routes of groups of keys that share budgets, for admins. */
export const groupRoutes = ({ groups, wallet, log, config }: Gateway): Route[] => [
  defineRoute('GET /api/groups', {
    operation: 'listGroups',
    summary: 'List groups of keys with their spending, newest first',
    access: 'admin',
    query: ListQuery.strict(),
    reply: pageOf(GroupRecord),
    run: ({ query }) => listReply(query, (part) => groups.list(part)),
  }),
  defineRoute('GET /api/groups/{id}', {
    operation: 'getGroup',
    summary: 'Retrieve a group of keys with its spending',
    access: 'admin',
    params,
    reply: GroupRecord,
    async run({ params: { id } }) {
      const found = await groups.find(id)
      if (found !== null) return found
      throw new GazewayError('not_found', `The group ${id} does not exist.`, { param: 'id' })
    },
  }),
  ...writingRoutes({ groups, log, config }),
  defineRoute('DELETE /api/groups/{id}', {
    operation: 'deleteGroup',
    summary: 'Delete a group without keys',
    description: 'A group with active keys is refused with 409 `conflict`.',
    access: 'admin',
    params,
    reply: z.void(),
    status: 204,
    async run({ params: { id }, c }) {
      await groups.remove(id)
      log.info('Group deleted.', { by: callerOf(c).id, group_id: id })
    },
  }),
  defineRoute('POST /api/groups/{id}/release', {
    operation: 'releaseGroupSpending',
    summary: 'Release what is presumed spent of the keys of a group',
    description: 'The budgets of the group and of its keys have the amount again. See POST /api/keys/{id}/release.',
    access: 'admin',
    params,
    reply: Released,
    async run({ params: { id }, c }) {
      if ((await groups.find(id)) === null) throw new GazewayError('not_found', 'The group does not exist.')
      const released_usd = toUsd(await wallet.releasePresumed(id))
      log.info('Presumed spending released.', { by: callerOf(c).id, group_id: id, released_usd })
      return { released_usd }
    },
  }),
]

/** Routes that create and change a group. */
const writingRoutes = ({ groups, log, config }: Pick<Gateway, 'groups' | 'log' | 'config'>): Route[] => [
  defineRoute('POST /api/groups', {
    operation: 'createGroup',
    summary: 'Create a group of keys',
    description: 'Calls count against the budgets of their key and of its group. Add keys with PATCH /api/keys/{id}.',
    access: 'admin',
    body: NewGroup,
    reply: Warned,
    status: 201,
    idempotent: true,
    location: ({ id }) => `/api/groups/${id}`,
    async run({ body, c, keep }) {
      const warnings = alertWarnings(body, config.current().config.alerts)
      const record = await groups.create(body, keep && ((trx, made) => keep(trx, { ...made, warnings })))
      log.info('Group created.', { by: callerOf(c).id, group_id: record.id })
      return { ...record, warnings }
    },
  }),
  defineRoute('PATCH /api/groups/{id}', {
    operation: 'updateGroup',
    summary: 'Update the name, budgets or alerts of a group',
    description:
      'Absent fields stay unchanged; [] removes all budgets or alerts. New budgets apply at once in this process, and ' +
      'within 5 s in others on the same store.',
    access: 'admin',
    params,
    body: GroupChange,
    reply: Warned,
    async run({ params: { id }, body, c }) {
      const record = await groups.change(id, body)
      log.info('Group changed.', { by: callerOf(c).id, group_id: id, changed: Object.keys(body) })
      return { ...record, warnings: alertWarnings(record, config.current().config.alerts) }
    },
  }),
]
